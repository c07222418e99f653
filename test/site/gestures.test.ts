/** The lab's plot under a mouse and fingers: the strip's brush, a pinch, and labels that nothing cuts off. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { sharedBrowser, textOf, visit } from "./visit.js";

const browser = sharedBrowser();
const TOTAL = 1_114_112;

const shown = (page: Page): [number, number] => {
  const { searchParams } = new URL(page.url());
  return [Number(searchParams.get("left") ?? 0), Number(searchParams.get("right") ?? TOTAL)];
};

test("the brush: an edge narrows what is shown, the middle moves it", async () => {
  await visit(browser(), "play/?at=900000", async (page) => {
    await textOf(page, "#progress-note", /published/);
    const box = (await page.locator("#overview").boundingBox())!;
    const y = box.y + box.height / 2;
    const drag = async (from: number, to: number) => {
      await page.mouse.move(box.x + from * box.width, y);
      await page.mouse.down();
      await page.mouse.move(box.x + to * box.width, y, { steps: 4 });
      await page.mouse.up();
    };
    await drag(0.999, 0.4);
    await page.waitForURL(/right=/);
    const [left, right] = shown(page);
    expect(left).toBe(0);
    expect(right / TOTAL).toBeCloseTo(0.4, 1);
    await drag(0.2, 0.5);
    await page.waitForURL(/left=/);
    const [from, to] = shown(page);
    expect(from / TOTAL).toBeCloseTo(0.3, 1);
    expect(Math.abs(to - from - (right - left))).toBeLessThanOrEqual(1);
  });
});

test("two fingers that part show a shorter piece", async () => {
  await visit(
    browser(),
    "play/?at=900000",
    async (page) => {
      await textOf(page, "#progress-note", /published/);
      await page.locator("#chart").scrollIntoViewIfNeeded();
      const box = (await page.locator("#chart .u-over").boundingBox())!;
      const touch = await page.context().newCDPSession(page);
      const send = (type: "touchStart" | "touchMove" | "touchEnd", apart: number) =>
        touch.send("Input.dispatchTouchEvent", {
          type,
          touchPoints:
            type === "touchEnd"
              ? []
              : [-1, 1].map((side, id) => ({
                  x: box.x + box.width / 2 + (side * apart * box.width) / 2,
                  y: box.y + 80,
                  id,
                })),
        });
      await send("touchStart", 0.2);
      for (const apart of [0.3, 0.4, 0.5, 0.6]) await send("touchMove", apart);
      await send("touchEnd", 0);
      await page.waitForURL(/right=/);
      const [left, right] = shown(page);
      expect((right - left) / TOTAL).toBeLessThan(0.6);
      expect((left + right) / 2 / TOTAL).toBeCloseTo(0.5, 1);
    },
    { hasTouch: true, viewport: { width: 390, height: 844 } },
  );
});

interface Written {
  text: string;
  from: number;
  to: number;
  width: number;
}

/** In the page: where every text of a canvas begins and ends. */
function recordTexts(): void {
  const written: Written[] = [];
  Object.assign(globalThis, { written });
  const { prototype } = CanvasRenderingContext2D;
  const original = prototype.fillText; // eslint-disable-line @typescript-eslint/unbound-method -- called with `this` below
  prototype.fillText = function (text, x, y, most) {
    const { width } = this.measureText(text);
    const at = this.getTransform().transformPoint({ x, y }).x;
    const before = this.textAlign === "center" ? width / 2 : this.textAlign === "right" ? width : 0;
    written.push({ text, from: at - before, to: at - before + width, width: this.canvas.width });
    original.call(this, text, x, y, most);
  };
}

test.each([320, 390, 1280])(
  "no label of the plot is cut off at %i px, the last one neither",
  async (width) => {
    await visit(
      browser(),
      `play/?at=${TOTAL}`,
      async (page) => {
        await textOf(page, "#progress-note", /published/);
        const texts = await page.evaluate(() => (globalThis as unknown as { written: Written[] }).written);
        expect(texts.some(({ text }) => /^day \d+$/.test(text))).toBe(true);
        expect(texts.filter(({ from, to, width: room }) => from < -0.5 || to > room + 0.5)).toEqual([]);
      },
      { viewport: { width, height: 800 }, prepare: (page) => page.addInitScript(recordTexts) },
    );
  },
);
