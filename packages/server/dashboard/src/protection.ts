/** For those who answer for privacy: who is protected, how much a day, a month and a year may tell, what changed, the statement. */
import { byId, download, h } from "../../../../site/src/look/dom.js";
import { amount } from "../../../../site/src/look/format.js";
import * as api from "./api.js";
import { budgetParts, head, row } from "./cards.js";

export async function showProtection(zone: string): Promise<void> {
  const [text, statement] = await Promise.all([api.statementText(), api.statement()]);
  byId("protected").textContent = protectedWords(statement, zone);
  byId("budget").replaceChildren(...budgetParts(statement.budget, statement.plan, zone, statement.metrics));
  const { changes } = statement;
  byId("changes").replaceChildren(
    ...(changes.length === 0
      ? []
      : [
          head("since", "metric", "now", "before"),
          h(
            "tbody",
            {},
            ...changes.map(({ day, metric, was, now }) => row(day, metric, now ?? NOTHING, was ?? NOTHING)),
          ),
        ]),
  );
  byId("no-changes").textContent =
    changes.length === 0
      ? "No metric has changed what a person spends in the days that the service keeps (32)."
      : "";
  byId("statement").textContent = text;
}

/** A metric that is gone, that is new, or that protects single events. */
const NOTHING = "spends nothing of a person's budget";

/** Who is protected, in one sentence; and who is not. */
function protectedWords({ budget, metrics }: api.Statement, zone: string): string {
  const others = metrics.filter(({ unit }) => unit === "one event").map(({ name }) => name);
  const except =
    others.length === 0
      ? ""
      : ` ${others.join(", ")} ${others.length === 1 ? "protects" : "protect"} single events, not a person's day.`;
  if (budget.spent === 0) return `No metric protects a person's day.${except}`;
  const but =
    budget.delta === 0
      ? ""
      : `, but for δ = ${budget.delta}: the probability that a key that only this person used on that day becomes public`;
  const factor = Math.exp(budget.spent);
  const odds =
    factor < 1000 ? `${amount(Number(factor.toPrecision(3)))} times` : `e^${amount(budget.spent)} times`;
  return `Every person is protected, day by day (${zone}): with all events of a person and day or without them, no published number is more than ${odds} as likely (ε = ${amount(budget.spent)})${but}.${except}`;
}

export function bindProtection(): void {
  byId("print").addEventListener("click", () => print());
  byId("registry").addEventListener("click", () => {
    void api.registryRecord().then((record) => download("deployment.json", record));
  });
}
