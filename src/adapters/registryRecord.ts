/**
 * A record for the public registry of deployments of differential privacy (opendp/deployments-registry-data), in the layout
 * of its records of September 2026. What the library knows is filled in; what only the operator knows begins with `TO ADD`.
 */
import type { Software } from "../core/software.js";
import { overWord } from "../events/people/distinct.js";
import { SHARES } from "../events/shares.js";
import type { EventStatement } from "../events/statement.js";
import type { LocalStatement } from "../local/localStatement.js";
import type { PaperStatement } from "../local/paper/statement.js";
import type { Statement } from "../stream/statement.js";

/** A deployment as the registry describes it. JSON is YAML: the record is a file of the registry as it stands. */
export interface RegistryRecord {
  readonly url_slug: string;
  readonly status: "Draft";
  readonly tier: 3;
  readonly deployment: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Facts about the mechanism in a record of a registry. */
export interface RegistryFacts {
  readonly software: Software;
  readonly model: "Central" | "Local";
  /** In the registry's words, such as "Event-level". */
  readonly unit: string;
  readonly neighbours: string;
  readonly epsilon: number;
  readonly delta: number;
  readonly parameters: string;
  readonly domain: string;
  readonly unprotected: readonly string[];
  readonly trust: string;
  readonly releases: string;
  readonly postProcessing: string;
  readonly composition: string;
  readonly preprocessing: string;
  readonly mechanisms: readonly string[];
}

const toAdd = (what: string): string => `TO ADD: ${what}`;
const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

export function registryRecord(facts: RegistryFacts): RegistryRecord {
  const { software, epsilon, delta } = facts;
  return {
    url_slug: toAdd("name-of-the-product-name-of-the-curator"),
    status: "Draft",
    tier: 3,
    deployment: {
      basic: {
        name: toAdd("the name of the data product"),
        data_curators: [
          {
            data_curator_name: toAdd("who publishes it"),
            data_curator_type: toAdd("Company, Government, Nonprofit or Academia"),
          },
        ],
        intended_use: toAdd("what the numbers are for"),
        data_product_type: "Summary statistics",
        data_product_region: toAdd("the region that the data describe"),
        description: toAdd("what the numbers count or measure, in a sentence"),
        publication_date: toAdd("YYYY-MM-DD of the first number"),
        data_product_sector: toAdd("Technology, Healthcare, Education, Government or another sector"),
      },
      dp_variant: {
        variant_name: delta === 0 ? "Pure DP" : "Approximate DP",
        data_domain: facts.domain,
        unprotected_quantities: list(facts.unprotected),
      },
      privacy_loss: {
        privacy_unit: facts.unit,
        privacy_unit_details: facts.neighbours,
        privacy_parameters: delta === 0 ? { epsilon } : { epsilon, delta },
        privacy_parameters_details: facts.parameters,
      },
      deployment_model: {
        model_name: facts.model,
        model_name_details: facts.trust,
        actors: toAdd("who collects, who operates, who reads, and what each of them is trusted with"),
        release_type: "Many releases",
        release_type_details: facts.releases,
        data_source_type: "Dynamic",
        access_type: "Non-interactive",
        access_type_details:
          "Readers get published numbers. Any question is answered from these alone and costs no privacy.",
      },
      accounting: { post_processing: facts.postProcessing, composition: facts.composition },
      implementation: {
        preprocessing_and_hyperparameter_tuning: `${facts.preprocessing}\n${toAdd("how ε, bounds and limits were chosen, and whether data were looked at for it")}`,
        mechanisms: list([
          ...facts.mechanisms,
          `Software: ${software.name} ${software.version}${software.commit === null ? "" : `, commit ${software.commit}`}, noise version ${software.noiseVersion}.`,
          "Floating point: values are integers before they are summed, noise is an integer sampled exactly by integer arithmetic, and no floating-point operation decides a sample.",
          "Timing: work, sizes and times of publication do not depend on one value; what remains is documented (docs/side-channels.md).",
          toAdd("access controls and encryption of the data before protection"),
        ]),
        justification: toAdd("why this unit, this ε and these bounds"),
      },
      administrative: {
        sources: toAdd("links to the data product and its documentation"),
        registry_authors: [toAdd("who wrote this record")],
      },
    },
  };
}

export type AnyStatement = Statement | EventStatement | LocalStatement | PaperStatement;

/**
 * The record of a release, from its statement.
 * @throws {RangeError} if the release was made from a seed or is not private at all: a record would be false
 */
export function recordOfStatement(statement: AnyStatement): RegistryRecord {
  if ("private" in statement && !statement.private)
    throw new RangeError("statement: expected a private release, got one that was made from a seed");
  if ("rejected" in statement) return registryRecord(localFacts(statement));
  return registryRecord("every" in statement ? eventFacts(statement) : valueFacts(statement));
}

const POST_PROCESSING =
  "Least-squares consistency of the noise, done before the first value arrives; answers, intervals and charts are functions of published numbers.";
const TRUSTED = "The operator's server sees the values; readers see published numbers alone.";

function valueFacts(statement: Statement): RegistryFacts {
  const { software, epsilon, delta, neighbours, min, max, resolution, stages, composition } = statement;
  return {
    ...{ software, epsilon, delta, neighbours, composition, model: "Central" },
    unit: statement.unit === "one value" ? "Event-level" : statement.unit,
    parameters: stages.map((stage) => `${stage.stage}: ε = ${stage.epsilon}`).join("; "),
    domain: `Streams of numbers in [${min}, ${max}], one position after the other.`,
    unprotected: statement.notProtected,
    trust: TRUSTED,
    releases:
      "One number per value, without end. ε is spent once for the whole stream: every value is in one block of it.",
    postProcessing: POST_PROCESSING,
    preprocessing: `Values are rounded to ${min === 0 ? "" : `${min} plus `}multiples of ${resolution} and clamped: ${statement.clamping}.${statement.threshold === null ? "" : ` θ = ${statement.threshold}; if it was chosen from values, that is one of the stages above.`}`,
    mechanisms: [
      `${statement.noise}${statement.noiseScale === null ? "" : `, scale ${statement.noiseScale}`} on every node of trees with fan-out ${statement.fanout}.`,
      ...stages.map(({ stage, mechanism }) => `${stage}: ${mechanism}.`),
      `Randomness: ${statement.randomness}.`,
    ],
  };
}

function eventFacts(statement: EventStatement): RegistryFacts {
  const { software, epsilon, delta, neighbours, composition, people, perPerson, resolution, threshold } =
    statement;
  const period = overWord(people?.over ?? "1d");
  const hasPerson = people !== null || perPerson !== null;
  const limit =
    people !== null
      ? [
          `A person counts once in a ${period}, under ${people.keysPerPerson === 1 ? "one key" : `at most ${people.keysPerPerson} keys`}.`,
        ]
      : perPerson === null
        ? []
        : perPerson.sum === undefined
          ? [
              `A person's first ${perPerson.events ?? "k"} events of a day count, over all keys.${perPerson.most === undefined ? "" : ` The limit, at most ${perPerson.most}, is chosen privately from the people of the first whole day, which is not published.`}`,
            ]
          : [`A person's values of a day count until they sum to ${perPerson.sum}.`];
  return {
    ...{ software, epsilon, delta, neighbours, composition, model: "Central" },
    unit: hasPerson ? `User-${period}-level` : "Event-level",
    parameters: hasPerson
      ? `ε is spent once per ${period} of the zone ${statement.zone}; n ${period}s of a person are protected at nε${delta === 0 ? "" : " and nδ"}.`
      : "ε is for one event; a person is not protected as such: k events of one person, on any days, are protected at kε.",
    domain: `Events with a time${hasPerson ? ", a person" : ""}${resolution === null ? "" : " and a value"}, by ${period}s of the zone ${statement.zone}.`,
    unprotected: statement.notProtected,
    trust: TRUSTED,
    releases: `A number every ${statement.every}, ${statement.lateness} after its period has ended. ${period.charAt(0).toUpperCase()}${period.slice(1)}s have noise of their own.`,
    postProcessing: POST_PROCESSING,
    preprocessing: [
      ...limit,
      ...(resolution === null
        ? []
        : [
            `Values are rounded to multiples of ${resolution}. Values below ${statement.min ?? 0} are clamped to it.`,
          ]),
      ...(threshold === null
        ? []
        : [
            `Values above θ = ${threshold} are clamped to θ; θ is public, or was chosen with its own share of ε.`,
          ]),
      "Nothing else is done to the events.",
    ].join(" "),
    mechanisms: eventMechanisms(statement),
  };
}

/** Every mechanism of a release of events, one line each: noise of sums, what reads the events beside them, randomness. */
export const eventMechanisms = (statement: EventStatement): readonly string[] => [
  `${statement.noise}${statement.noiseScale === null ? "" : `, scale ${statement.noiseScale}`}, on every period of the levels ${statement.levels.join(", ")}.`,
  ...partsBesideSums(statement),
  `Randomness: ${statement.randomness}.`,
];

/** Mechanisms that read the events beside their sums. */
function partsBesideSums({ shares, discovery, perPerson }: EventStatement): string[] {
  const of = (share: number): string => `${share}/${SHARES} of ε`;
  return [
    ...(shares.limited > 0
      ? [`Counts of people beyond their limit: discrete Laplace, ${of(shares.limited)}.`]
      : []),
    ...(shares.clipped > 0
      ? [
          `θ: permute-and-flip, ${shares.threshold > 0 ? of(shares.threshold) : "all of ε of events that are not published"}. Counts of events above θ: discrete Laplace, ${of(shares.clipped)}.`,
        ]
      : []),
    ...(perPerson?.most === undefined
      ? []
      : ["The limit of a person: permute-and-flip, all of ε of its first whole day."]),
    ...(discovery === null
      ? []
      : [
          `Keys that nobody listed: truncated discrete Laplace noise on one vote per person and day, threshold ${discovery.k}, ${of(shares.discovery)}, δ = ${discovery.delta}.`,
        ]),
  ];
}

function localFacts(statement: LocalStatement | PaperStatement): RegistryFacts {
  const { software, epsilon, delta, neighbours, composition, max, threshold } = statement;
  const mechanisms =
    "stages" in statement
      ? statement.stages.map(({ stage, mechanism, epsilon }) => `${stage}: ${mechanism}, ε = ${epsilon}.`)
      : [`${statement.mechanism}, ${statement.cells} cells, integer weights.`];
  return {
    ...{ software, epsilon, delta, neighbours, composition, model: "Local" },
    unit: "Event-level",
    parameters: "ε is for one report; a device that sends k reports spends kε.",
    domain: `One number in [0, ${max}] per report.`,
    unprotected: statement.notProtected,
    trust: "Nobody is trusted: values are perturbed on the device, and only reports leave it.",
    releases: "Reports are aggregated as they arrive.",
    postProcessing:
      "Unbiased sums and means, and an expectation–maximisation estimate of the distribution, from reports alone.",
    preprocessing: `Values are clamped to [0, θ]${threshold === null ? "" : `, θ = ${threshold}`}; θ is public.`,
    mechanisms: [...mechanisms, `Randomness: ${statement.randomness}.`],
  };
}
