// Open a page in a browser and do what a script says; print what it returns, and what the page complained of or asked for.
// Usage: node browse.mjs browser page options script; the script is the body of a function of `page`, of playwright.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file, options, script] = process.argv.slice(2);
const { hash = "", media = {}, ...context } = JSON.parse(options);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage(context);
const [messages, requests] = [[], []];
page.on("console", (message) => messages.push(message.text()));
page.on("pageerror", (error) => messages.push(String(error.stack)));
page.on("request", (request) => requests.push(request.url()));
await page.emulateMedia(media);
await page.goto(pathToFileURL(file).href + hash);
await page.waitForSelector("[data-ready]", { timeout: 60000 });
try {
  const AsyncFunction = (async () => {}).constructor;
  const value = await new AsyncFunction("page", script)(page);
  process.stdout.write(JSON.stringify({ value: value ?? null, messages, requests: requests.slice(1) }));
} catch (error) {
  process.stderr.write(`${error.stack}\n${messages.join("\n")}`);
  process.exitCode = 1;
}
await browser.close();
