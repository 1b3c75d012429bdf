// How long a person waits.

/** Waits until the hits are those of the address. */
export const settled = (page) => page.waitForFunction(() => document.getElementById("hits").getAttribute("aria-busy") !== "true" && (new URL(location).searchParams.get("q") ?? "") === document.getElementById("query").value);

/**
 * Types the last letter of a query. Milliseconds from the key to new hits in the page (`shown`) and on the screen (`painted`); `asked` is
 * how long the server took of them, its way and back included.
 */
export async function timed(page, query) {
  await page.fill("#query", query.slice(0, -1));
  await settled(page);
  await page.evaluate(() => {
    performance.clearResourceTimings();
    window.took = new Promise((done) => {
      let pressed = 0;
      document.addEventListener("keydown", () => (pressed = performance.now()), { once: true, capture: true });
      new MutationObserver((_, self) => {
        if (!document.querySelector("#hits .hit:not(.shadow)")) return;
        self.disconnect();
        const shown = performance.now() - pressed;
        const told = () => ({ shown, painted: performance.now() - pressed, asked: performance.getEntriesByType("resource").findLast((entry) => entry.name.endsWith("/v1/search"))?.duration ?? 0 });
        // A task behind the next frame runs when that frame is on its way to the screen.
        requestAnimationFrame(() => setTimeout(() => done(told())));
      }).observe(document.getElementById("hits"), { childList: true });
    });
  });
  await page.focus("#query");
  await page.keyboard.press("End");
  await page.keyboard.type(query.slice(-1));
  return Promise.race([page.evaluate(() => window.took), new Promise((_, late) => setTimeout(late, 20_000, new Error(`no result for ${query}`)))]);
}
