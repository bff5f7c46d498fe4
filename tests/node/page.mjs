// Open a page in a real browser, do something with it, and print what came of that as JSON.
// Usage: node page.mjs browser, with { file, script, size, media } as JSON on the standard input.
// The script is the body of a function of `page`, as Playwright has it.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const { file, script, size, media } = JSON.parse(readFileSync(0, "utf8"));
const browser = await chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: size, ...media });
const messages = [];
const requests = [];
page.on("console", (message) => messages.push(message.text()));
page.on("pageerror", (error) => messages.push(String(error.stack)));
page.on("dialog", (dialog) => messages.push(`dialog ${dialog.message()}`) && dialog.dismiss());
page.on("request", (request) => /^(file|data|blob|about):/.test(request.url()) || requests.push(request.url()));
try {
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("[data-ready]", { timeout: 20_000 });
  const run = new Function("page", `return (async () => { ${script} })();`);
  const result = (await run(page)) ?? null;
  process.stdout.write(JSON.stringify({ result, messages, requests }));
} catch (error) {
  process.stdout.write(JSON.stringify({ result: String(error.stack), messages, requests, failed: true }));
} finally {
  await browser.close();
}
