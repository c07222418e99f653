/**
 * The Worker behind the lab's plot: keeps a stream running and answers ranges. It sends nothing when nothing changes. The small
 * charts start one of their own from the same file, so that a page loads the library once for both.
 */
import { exampleStream } from "brume-research";
import type { ReleaseSettings } from "../play/state.js";
import { sendMultiples } from "./multiples.js";
import { Player } from "./player.js";
import type { FromStream, ToMultiples, ToStream } from "./protocol.js";

const FRAME = 1000 / 60; // ms

let values: Float64Array | undefined;
let player: Player | undefined;
let speed = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let last = 0;
/** Releases that are still to be drawn again. */
let again = 0;
/** Whether the page has the account of this release with θ in it. */
let told = false;

addEventListener("message", ({ data }: MessageEvent<ToStream | ToMultiples>) => {
  switch (data.type) {
    case "multiples":
      return sendMultiples(data);
    case "load":
      values = data.source.kind === "example" ? exampleStream(data.source.seed) : data.source.values;
      player = undefined;
      again = 0;
      return;
    case "publish":
      return publish(data.settings, data.window);
    case "view":
      player?.look(data.part);
      return sendFrame();
    case "play":
      speed = data.speed;
      return run();
    case "pause":
      speed = 0;
      clearTimeout(timer);
      return send({ type: "paused", at: player?.at ?? 0 });
    case "seek":
      player?.seek(data.at);
      return sendFrame();
    case "ask":
      return player && send(player.ask(data.from, data.to));
    case "again":
      again = data.releases;
      return publishOnce();
    case "runs":
      return player && send({ type: "runs", runs: player.runs(data.range, data.count, data) });
    case "export":
      return player && send({ type: "exported", file: player.csv() });
  }
});

function publish(settings: ReleaseSettings, window: number): void {
  if (values === undefined) return;
  again = 0;
  try {
    if (player === undefined) player = new Player(values, settings, window);
    else player.publishAgain(settings, window);
  } catch (error) {
    return send({ type: "published", problem: (error as Error).message });
  }
  sendAccount();
  sendFrame();
  send({ type: "published", problem: "" });
  run();
}

/** Lets values through at `speed` a second, 60 times a second, until the stream ends or is paused. */
function run(): void {
  clearTimeout(timer);
  last = performance.now();
  if (speed > 0 && player !== undefined && player.at < player.values.length) timer = setTimeout(step, FRAME);
}

function step(): void {
  const now = performance.now();
  const values = Math.floor((speed * (now - last)) / 1000);
  if (values > 0) {
    last = now;
    if (player!.advance(player!.at + values) || player!.at === player!.values.length) sendFrame();
  }
  if (player!.at < player!.values.length) timer = setTimeout(step, FRAME);
}

/** One more release of the same values; messages come in between. */
function publishOnce(): void {
  if (player === undefined || again === 0) return;
  const { settings } = player;
  const line = player.again({ ...settings, seed: `${settings.seed}, again ${again}` });
  again--;
  send({ type: "again", line, left: again });
  setTimeout(publishOnce);
}

function sendFrame(): void {
  if (player === undefined) return;
  send(player.frame());
  if (!told && player.publisher.length > 0) sendAccount();
}

function sendAccount(): void {
  const { publisher } = player!;
  told = publisher.length > 0;
  send({ type: "account", account: publisher.statement(), explanation: publisher.explain() });
}

function send(message: FromStream): void {
  postMessage(message);
}
