/** The Worker behind the live plot: keeps a stream running and answers ranges. */
import { exampleStream } from "brume/research";
import { Player } from "./player.js";
import type { FromStream, ReleaseSettings, ToStream } from "./protocol.js";

const FRAME = 1000 / 60; // ms

let values: Float64Array | undefined;
let player: Player | undefined;
let speed = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let last = 0;
/** Whether the page has the account of this release with θ in it. */
let told = false;

addEventListener("message", ({ data }: MessageEvent<ToStream>) => {
  switch (data.type) {
    case "load":
      values = data.source.kind === "example" ? exampleStream(data.source.seed) : data.source.values;
      player = undefined;
      return;
    case "publish":
      return publish(data.settings, data.window);
    case "play":
      speed = data.speed;
      return run();
    case "pause":
      speed = 0;
      clearTimeout(timer);
      sendFrame();
      return send({ type: "paused", at: player?.at ?? 0 });
    case "seek":
      player?.seek(data.at);
      return sendFrame();
    case "ask": {
      const answer = player?.ask(data.from, data.to);
      return answer && send(answer);
    }
    case "export": {
      const { first, values: published } = player!.published();
      return send({ type: "exported", first, values: published }, [published.buffer]);
    }
  }
});

function publish(settings: ReleaseSettings, window: number): void {
  if (values === undefined) return;
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
  player!.advance(player!.at + Math.max(1, Math.round((speed * (now - last)) / 1000)));
  last = now;
  sendFrame();
  if (player!.at < player!.values.length) timer = setTimeout(step, FRAME);
}

function sendFrame(): void {
  if (player === undefined) return;
  const frame = player.frame();
  send(frame, [frame.truth.buffer, frame.private.buffer, frame.low.buffer, frame.high.buffer]);
  if (!told && player.publisher.length > 0) sendAccount();
}

function sendAccount(): void {
  const { publisher } = player!;
  told = publisher.length > 0;
  send({ type: "account", account: publisher.statement(), explanation: publisher.explain() });
}

function send(message: FromStream, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}
