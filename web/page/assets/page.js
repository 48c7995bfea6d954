"use strict";

// The token stands behind the # of the address that mine serve prints, so that no request and no log has it. It is kept
// for this origin and taken out of the address.
const tokens = {
  take() {
    const given = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!given) return;
    localStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname + location.search);
  },
  get: () => localStorage.getItem("token") || "",
  async ask() {
    const dialog = document.getElementById("token");
    const field = document.getElementById("token-field");
    dialog.querySelector("[data-close]").onclick = () => dialog.close(); // not by the return key: that sends the token
    document.getElementById("token-problem").hidden = !tokens.get(); // the one that there is was refused
    field.value = "";
    dialog.returnValue = "cancel";
    dialog.showModal();
    field.focus();
    await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
    if (dialog.returnValue !== "ok" || !field.value.trim()) return false;
    localStorage.setItem("token", field.value.trim().replace(/^.*token=/, ""));
    return true;
  },
};

// say tells what happened, to eyes for a moment and to screen readers.
let fade = 0;
function say(text, seen = true) {
  const status = document.getElementById("status");
  clearTimeout(fade);
  status.classList.toggle("unseen", !seen);
  status.textContent = text;
  fade = setTimeout(() => { status.textContent = ""; }, 4000);
}

const done = { accept: "Accepted.", reject: "Rejected.", withdraw: "Taken back." };
const decisionOf = { accepted: "accept", edited: "accept", rejected: "reject", "": "withdraw" };
const reviewer = () => localStorage.getItem("name") || "";

// send writes a decision, which is on the disk when send returns an answer. An answer with a problem says why nothing
// was stored; it is changed if the pair is not any more as this page shows it.
async function send(decision) {
  for (;;) {
    let answer;
    try {
      answer = await fetch("/labels", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Mine-Token": tokens.get() },
        body: JSON.stringify(decision),
      });
    } catch {
      return { problem: "The decision was not stored: mine serve does not answer. Start it again, then decide again." };
    }
    if (answer.status === 403) {
      if (await tokens.ask()) continue;
      return { problem: "The decision was not stored: it needs the token." };
    }
    if (!answer.ok) return { problem: await answer.text(), changed: answer.status === 409 };
    return answer.json();
  }
}

// fragment makes elements of a part of a page. The server has escaped every sentence in it, and the page's policy runs
// no script but this file.
function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// Deciding on the pair of a page, or of the review.
class Deciding {
  keys = { a: "accept", r: "reject", e: "edit", u: "undo" };
  constructor(holder) {
    this.holder = holder;
    this.undone = [];
    this.busy = false;
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button) this.act(button.dataset.do);
    });
    document.addEventListener("keydown", (event) => this.key(event));
    this.press();
  }
  key(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!this.keys[key] || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest("input, select, textarea, dialog")) return;
    if (key.length === 1 && key !== "?" && localStorage.getItem("letters") === "off") return;
    event.preventDefault();
    this.act(this.keys[key]);
  }
  pair() { return this.holder.querySelector("[data-key]"); }
  async act(what) {
    if (what === "help") { this.help(); return; } // whatever is under way
    if (this.busy || !this[what]) return;
    this.busy = true;
    try { await this[what](); } finally { this.busy = false; }
  }
  // accept takes the texts that are shown: those of a correction, where there is one.
  accept() { return this.decide("accept", this.corrected()); }
  reject() { return this.decide("reject"); }
  texts() { return [...this.pair().querySelectorAll(".sentence")].map((s) => s.textContent); }
  corrected() {
    const pair = this.pair();
    return pair && pair.dataset.label === "edited" ? this.texts() : undefined;
  }
  // edit accepts the pair with other texts. The dialog keeps them until they are stored.
  async edit() {
    const pair = this.pair();
    if (!pair) return;
    const dialog = document.getElementById("edit");
    const fields = [document.getElementById("edit-source"), document.getElementById("edit-target")];
    const sentences = pair.querySelectorAll(".sentence");
    const before = this.texts();
    fields.forEach((field, side) => {
      field.value = before[side];
      field.lang = sentences[side].lang;
      field.dir = sentences[side].dir;
    });
    const tell = (text) => {
      const problem = document.getElementById("edit-problem");
      problem.hidden = !text;
      problem.textContent = text;
    };
    tell("");
    let warned = false;
    // leave asks before Esc discards what was typed: the key that ends an input method is the same.
    const leave = (event) => {
      if (event.type === "keydown" && event.key !== "Escape") { warned = false; return; }
      if (event.isComposing || warned || fields.every((field, side) => field.value === before[side])) return;
      event.preventDefault();
      warned = true;
      tell("The texts were changed. Esc again discards the change.");
    };
    dialog.onkeydown = leave;
    dialog.oncancel = leave;
    dialog.querySelector("[data-close]").onclick = () => dialog.close();
    let sending = false;
    dialog.querySelector("form").onsubmit = async (event) => {
      event.preventDefault();
      if (sending) return;
      const texts = fields.map((field) => field.value.trim());
      if (texts.some((text) => text === "")) { tell("A text is empty. A pair without a translation is one to reject."); return; }
      if (!this.pair() || this.pair().dataset.key !== pair.dataset.key) {
        tell("Another run is shown by now, and it does not have this pair here. Copy the texts, cancel, and look for the pair.");
        return;
      }
      sending = true;
      tell("");
      await this.decide("accept", texts, tell, () => dialog.close());
      sending = false;
    };
    dialog.showModal();
    await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
  }
  // decide stores a decision on the pair as it is shown. tell is given the reason if it is not stored.
  async decide(decision, texts, tell = say, stored = () => {}) {
    const pair = this.pair();
    if (!pair) return;
    const { key, label, version, by, at } = pair.dataset;
    const last = { key, before: decisionOf[label], had: this.corrected(), by, at };
    const answer = await send({ key, decision, texts, by: reviewer(), replaces: version });
    if (answer.problem) {
      if (answer.changed) await this.show(at, "");
      tell(answer.problem);
      return;
    }
    stored();
    this.undone.push({ ...last, version: answer.version });
    await this.decided(decision, answer);
  }
  // undo restores what the last decision of this page replaced or, without one, takes back what is shown.
  async undo() {
    const pair = this.pair();
    const last = this.undone.pop() ||
      (pair && pair.dataset.label ? { ...pair.dataset, before: "withdraw" } : null);
    if (!last) { say("There is no decision to undo."); return; }
    const { key, before, had, at, version } = last;
    const by = before === "withdraw" ? reviewer() : last.by;
    const answer = await send({ key, decision: before, texts: had, by, replaces: version });
    if (answer.changed) await this.show(at, "");
    else if (answer.problem) this.undone.push(last);
    if (answer.problem) { say(answer.problem); return; }
    await this.decided(before, answer, at);
  }
  async decided(decision) {
    say(done[decision], false);
    await this.show();
  }
  // show puts the pair on the page as it is by now.
  async show() {
    let answer, html;
    try {
      answer = await fetch(location.pathname);
      html = await answer.text();
    } catch {
      say("mine serve does not answer. Start it again, then load this page again.");
      return;
    }
    if (!answer.ok) { location.reload(); return; } // a new run does not have the pair
    const part = fragment(html);
    for (const id of ["pair", "says"]) document.getElementById(id).replaceWith(part.getElementById(id));
    this.press();
  }
  // press shows on the buttons what was decided on the pair.
  press() {
    const label = this.pair() ? this.pair().dataset.label : "";
    for (const [what, wanted] of [["accept", "accepted"], ["reject", "rejected"], ["edit", "edited"]]) {
      document.querySelector(`[data-do=${what}]`).setAttribute("aria-pressed", String(label === wanted));
    }
  }
}

class Review extends Deciding {
  keys = {
    ...this.keys, j: "next", n: "next", ArrowRight: "next", k: "previous", p: "previous", ArrowLeft: "previous",
    o: "open", "?": "help",
  };
  constructor(holder) {
    super(holder);
    const letters = document.getElementById("letters");
    letters.checked = localStorage.getItem("letters") !== "off";
    letters.addEventListener("change", () => localStorage.setItem("letters", letters.checked ? "on" : "off"));
    const name = document.getElementById("name");
    name.value = reviewer();
    name.addEventListener("change", () => localStorage.setItem("name", name.value.trim()));
    for (const select of document.querySelectorAll(".query select")) {
      select.addEventListener("change", () => select.form.requestSubmit());
    }
  }
  at() { return Number(this.holder.firstElementChild.dataset.at); }
  next() { return this.show(this.at() + 1, ""); }
  previous() {
    if (this.at() === 0) { say("This is the first pair."); return null; }
    return this.show(this.at() - 1, "");
  }
  open() {
    const pair = this.pair();
    if (pair) location.href = "/pair/" + pair.dataset.key;
  }
  help() { document.getElementById("help").showModal(); }
  async decided(decision, answer, at) {
    for (const name of ["accepted", "rejected"]) {
      document.getElementById(name).textContent = answer[name].toLocaleString("en");
    }
    say(done[decision], false);
    if (at === undefined) await this.show(this.at() + 1, "undecided");
    else await this.show(at, "");
  }
  // show puts the pair at a place of the list on the card, or the first undecided one from there on.
  async show(at, step) {
    const query = new URLSearchParams(this.holder.dataset.query);
    query.set("at", at);
    query.set("step", step);
    try {
      const answer = await fetch("/review/card?" + query);
      const html = await answer.text();
      if (!answer.ok) { say(fragment(html).querySelector(".problem")?.textContent || "The pair could not be shown."); return; }
      this.holder.replaceChildren(fragment(html));
    } catch {
      say("mine serve does not answer. Start it again, then load this page again.");
      return;
    }
    query.delete("step");
    query.set("at", this.at());
    history.replaceState(null, "", "/review?" + query);
    this.press();
  }
}

// explain shows the explanation of a pair, as soon as the server has read what it needs.
async function explain(holder) {
  for (;;) {
    let part;
    try {
      const answer = await fetch(holder.dataset.src);
      part = fragment(await answer.text());
      if (!answer.ok) part = part.querySelector(".problem") || fragment("<p>The explanation could not be made.</p>"); // of a whole page
    } catch {
      part = fragment("<p>mine serve does not answer. Start it again, then load this page again.</p>");
    }
    const waiting = part.querySelector("[data-waiting]");
    // A screen reader is told once that it takes time, not every second.
    if (waiting && holder.querySelector("[data-waiting]")) {
      holder.setAttribute("aria-busy", "true");
    } else if (!waiting) {
      holder.removeAttribute("aria-busy");
    }
    holder.replaceChildren(part);
    if (!waiting) return;
    await new Promise((later) => setTimeout(later, 1000));
  }
}

// makeIndex asks for an index of the bitext, and shows the page anew until it is there.
async function makeIndex() {
  for (;;) {
    const answer = await fetch("/index", { method: "POST", headers: { "X-Mine-Token": tokens.get() } })
      .catch(() => null);
    if (answer && answer.ok) { location.reload(); return; }
    if (!answer || answer.status !== 403 || !await tokens.ask()) { say("The index is not being made."); return; }
  }
}

// takeBack withdraws the decision on a pair that the page has no more of than its keys.
async function takeBack(event) {
  const { key, version } = event.currentTarget.dataset;
  const answer = await send({ key, decision: "withdraw", by: reviewer(), replaces: version });
  if (answer.problem) say(answer.problem);
  else location.reload();
}

tokens.take();
for (const button of document.querySelectorAll("[data-take-back]")) button.addEventListener("click", takeBack);
const index = document.getElementById("index");
if (index) index.addEventListener("click", makeIndex);
if (document.getElementById("indexing") && !document.querySelector("#q:focus")) setTimeout(() => location.reload(), 2000);
const card = document.getElementById("card");
const pair = document.getElementById("pair");
if (card) new Review(card);
if (pair) new Deciding(pair.parentElement);
const explanation = document.getElementById("explanation");
if (explanation) explain(explanation);
