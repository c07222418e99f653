/** brume completion: a script that completes commands and options in a shell. */
import { type Command, UsageError } from "./command.js";
import { SUMMARIES } from "./summaries.js";

/** Names of a command that a shell completes. */
type Words = Pick<Command, "name" | "options">;

const SHELLS = { bash, zsh, fish } as const;

/** @param load all commands */
export const completionOf = (load: () => Promise<readonly Words[]>): Command => ({
  name: "completion",
  operands: "SHELL",
  summary: `${SUMMARIES.completion}
bash:  source <(brume completion bash), in ~/.bashrc
zsh:   source <(brume completion zsh), in ~/.zshrc
fish:  brume completion fish > ~/.config/fish/completions/brume.fish`,
  options: {},
  example: "source <(brume completion bash)",
  async run({ operands: [shell] }) {
    if (shell === undefined || !Object.hasOwn(SHELLS, shell))
      throw new UsageError(
        `SHELL: expected bash, zsh or fish, got ${shell === undefined ? "none" : `"${shell}"`}`,
      );
    process.stdout.write(SHELLS[shell as keyof typeof SHELLS](await load()));
  },
});

const optionsOf = ({ options }: Words): string[] =>
  [...Object.keys(options), "help", "quiet"].map((name) => `--${name}`);

/** Words that a command line may go on with: options of its command, or files. */
function bash(commands: readonly Words[]): string {
  return `_brume() {
  local word="\${COMP_WORDS[COMP_CWORD]}" options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map((command) => `    ${command.name}) options="${optionsOf(command).join(" ")}" ;;`).join("\n")}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _brume brume
`;
}

function zsh(commands: readonly Words[]): string {
  return `_brume() {
  local -a names options
  names=(${commands.map(({ name }) => name).join(" ")} --help --version)
  if (( CURRENT == 2 )); then
    compadd -- $names
    return
  fi
  case "$words[2]" in
${commands.map((command) => `    ${command.name}) options=(${optionsOf(command).join(" ")}) ;;`).join("\n")}
  esac
  if [[ "$words[CURRENT]" == -* ]]; then compadd -- $options; else _files; fi
}
compdef _brume brume
`;
}

function fish(commands: readonly Words[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap((command) => {
    const summary = SUMMARIES[command.name as keyof typeof SUMMARIES];
    const on = `-n ${quoted(`__fish_seen_subcommand_from ${command.name}`)}`;
    return [
      `complete -c brume -n __fish_use_subcommand -f -a ${command.name} -d ${quoted(summary)}`,
      ...Object.entries(command.options).map(
        ([name, { value, help }]) =>
          `complete -c brume ${on} -l ${name}${value === undefined ? "" : " -r"} -d ${quoted(help)}`,
      ),
    ];
  });
  return `${lines.join("\n")}\n`;
}
