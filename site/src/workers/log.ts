/** Worker of the lab for a log of events: keeps it running and answers questions. It sends nothing when nothing changes. */
import { callLog } from "../data/callLog.js";
import type { Log } from "../data/log.js";
import { LogPlayer, type LogSettings, type Span } from "./logPlayer.js";
import type { FromLog, Part, ToLog } from "./protocol.js";

const FRAME = 1000 / 20; // ms
const MINUTE = 60_000;

let log: Log | undefined;
let player: LogPlayer | undefined;
/** Minutes of the log per second. */
let speed = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let last = 0;
/** Where the log is between two periods, in milliseconds since 1970. */
let now = 0;
let period = "auto";
let range: Part | undefined;

export function hearLog(message: ToLog): void {
  switch (message.type) {
    case "load":
      log = message.source.kind === "example" ? callLog() : message.source.log;
      player = undefined;
      now = 0;
      return;
    case "publish":
      return publish(message.settings);
    case "view":
      ({ period, range } = message);
      return sendFrame();
    case "play":
      speed = message.speed;
      return run();
    case "pause":
      speed = 0;
      clearTimeout(timer);
      return player && send({ type: "paused", at: Math.round((player.at - player.start) / MINUTE) });
    case "seek":
      return player && seek(player.start + message.at * MINUTE);
    case "seek share":
      return player && seek(player.start + message.share * (player.end - player.start));
    case "runs":
      return player && send({ type: "runs", runs: player.runs(message.question, span(), message.count) });
  }
}

function publish(settings: LogSettings): void {
  if (log === undefined) return;
  try {
    const next = new LogPlayer(log, settings);
    next.advance(Math.max(now, next.start));
    player = next;
  } catch (error) {
    return send({ type: "refused", problem: (error as Error).message });
  }
  now = Math.max(now, player.at);
  const { days, mostOfOnePerson: most, resolution } = player;
  send({
    type: "published",
    days,
    limits: player.limits(),
    most,
    explanation: player.explanation(),
    resolution,
  });
  sendFrame();
  run();
}

/** Back means from the first event on again. */
function seek(to: number): void {
  now = Math.min(to, player!.end);
  if (now < player!.at) player = new LogPlayer(player!.log, player!.settings);
  player!.advance(now);
  sendFrame();
}

/** Lets events through at `speed` until the log ends or is paused. */
function run(): void {
  clearTimeout(timer);
  last = performance.now();
  if (speed > 0 && player !== undefined && player.at < player.end) timer = setTimeout(step, FRAME);
}

function step(): void {
  const time = performance.now();
  now += ((time - last) / 1000) * speed * MINUTE;
  last = time;
  const before = player!.at;
  player!.advance(now);
  if (player!.at !== before) sendFrame();
  if (player!.at < player!.end) timer = setTimeout(step, FRAME);
}

function span(): Span | undefined {
  const start = player!.start;
  return range && { from: start + range.from * MINUTE, to: start + range.to * MINUTE };
}

function sendFrame(): void {
  if (player === undefined) return;
  const { answers: columns, ...series } = player.series(period);
  const { at, end } = player;
  send({ type: "log frame", at, end, ...series, columns, answers: player.answers(span()) });
}

function send(message: FromLog): void {
  postMessage(message);
}
