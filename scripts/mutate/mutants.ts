/** Every change of one operator, number or condition that a source file allows. */
import { createHash } from "node:crypto";
import ts from "typescript";

export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** The file with this one change. */
  readonly text: string;
  /** Digest that identifies the change: equal for equal changes of equal texts. */
  readonly id: string;
}

const SWAPS: Record<string, string> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  "&&": "||",
  "||": "&&",
  "<<": ">>",
  ">>": "<<",
  ">>>": "<<",
  "&": "|",
  "|": "&",
  "^": "&",
  "+=": "-=",
  "-=": "+=",
};

/** Operators swapped, numbers off by one, conditions turned round. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutant[] = [];
  const add = (node: ts.Node, after: string) => {
    const [start, end] = [node.getStart(source), node.getEnd()];
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    const changed = text.slice(0, start) + after + text.slice(end);
    const id = createHash("sha256").update(file).update(changed).digest("hex").slice(0, 16);
    found.push({ file, line, before: node.getText(source), after, text: changed, id });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const swap = SWAPS[node.operatorToken.getText(source)];
      if (swap !== undefined && !isText(node)) add(node.operatorToken, swap);
    } else if (ts.isNumericLiteral(node)) add(node, `(${node.getText(source)} + 1)`);
    else if (ts.isBigIntLiteral(node)) add(node, `(${node.getText(source)} + 1n)`);
    else if (ts.isIfStatement(node)) add(node.expression, `!(${node.expression.getText(source)})`);
    else if (ts.isConditionalExpression(node)) add(node.condition, `!(${node.condition.getText(source)})`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Text that is put together: the change would not compile to anything sensible. */
function isText(node: ts.BinaryExpression): boolean {
  return [node.left, node.right].some(
    (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
  );
}
