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

// send writes a decision, which is by the reviewer of this page unless another is named. It is on the disk when send
// returns an answer.
async function send(key, decision, texts, by = localStorage.getItem("name") || "") {
  for (;;) {
    let answer;
    try {
      answer = await fetch("/labels", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Mine-Token": tokens.get() },
        body: JSON.stringify({ key, decision, by, texts }),
      });
    } catch {
      say("The decision was not stored: mine serve does not answer. Start it again, then decide again.");
      return null;
    }
    if (answer.status === 403 && await tokens.ask()) continue;
    const text = await answer.text();
    if (!answer.ok) {
      say(answer.status === 403 ? "The decision was not stored: it needs the token." : text);
      return null;
    }
    return JSON.parse(text);
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
  constructor(holder) {
    this.holder = holder;
    this.undone = [];
    this.busy = false;
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button) this.act(button.dataset.do);
    });
    this.press();
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
  // edit accepts the pair with other texts.
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
    dialog.querySelector("[data-close]").onclick = () => dialog.close();
    dialog.returnValue = "cancel";
    dialog.showModal();
    await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
    const texts = fields.map((field) => field.value.trim());
    if (dialog.returnValue !== "ok") return;
    if (texts.some((text) => text === "")) { say("The decision was not stored: a text is empty."); return; }
    await this.decide("accept", texts);
  }
  async decide(decision, texts) {
    const pair = this.pair();
    if (!pair) return;
    const last = { key: pair.dataset.key, before: decisionOf[pair.dataset.label], had: this.corrected(), by: pair.dataset.by, at: pair.dataset.at };
    const answer = await send(pair.dataset.key, decision, texts);
    if (!answer) return;
    this.undone.push(last);
    await this.decided(decision, answer);
  }
  async undo() {
    const pair = this.pair();
    const last = this.undone.pop() ||
      (pair && pair.dataset.label ? { key: pair.dataset.key, before: "withdraw", at: pair.dataset.at } : null);
    if (!last) { say("There is no decision to undo."); return; }
    const answer = await send(last.key, last.before, last.had, last.before === "withdraw" ? undefined : last.by);
    if (!answer) { this.undone.push(last); return; }
    await this.decided(last.before, answer, last.at);
  }
  async decided() { location.reload(); }
  // press shows on the buttons what was decided on the pair.
  press() {
    const label = this.pair() ? this.pair().dataset.label : "";
    for (const [what, wanted] of [["accept", "accepted"], ["reject", "rejected"], ["edit", "edited"]]) {
      document.querySelector(`[data-do=${what}]`).setAttribute("aria-pressed", String(label === wanted));
    }
  }
}

class Review extends Deciding {
  constructor(holder) {
    super(holder);
    const letters = document.getElementById("letters");
    letters.checked = localStorage.getItem("letters") !== "off";
    letters.addEventListener("change", () => localStorage.setItem("letters", letters.checked ? "on" : "off"));
    const name = document.getElementById("name");
    name.value = localStorage.getItem("name") || "";
    name.addEventListener("change", () => localStorage.setItem("name", name.value.trim()));
    document.addEventListener("keydown", (event) => this.key(event));
    for (const select of document.querySelectorAll(".query select")) {
      select.addEventListener("change", () => select.form.requestSubmit());
    }
  }
  key(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const keys = {
      a: "accept", r: "reject", e: "edit", u: "undo", j: "next", n: "next", ArrowRight: "next",
      k: "previous", p: "previous", ArrowLeft: "previous", o: "open", "?": "help",
    };
    if (!keys[key] || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest("input, select, textarea, dialog")) return;
    if (key.length === 1 && key !== "?" && !document.getElementById("letters").checked) return;
    event.preventDefault();
    this.act(keys[key]);
  }
  at() { return Number(this.holder.firstElementChild.dataset.at); }
  next() { return this.show(this.at() + 1, ""); }
  previous() {
    if (this.at() === 0) { say("This is the first pair."); return null; }
    return this.show(this.at() - 1, "");
  }
  open() {
    const pair = this.pair();
    if (pair) location.href = "/pair/" + pair.dataset.row;
  }
  help() { document.getElementById("help").showModal(); }
  async decided(decision, answer, at) {
    for (const name of ["accepted", "rejected"]) {
      document.getElementById(name).textContent = answer[name].toLocaleString("en");
    }
    say(done[decision], false);
    if (at === undefined) await this.show(this.at() + 1, "undecided");
    else await this.show(Number(at), "");
  }
  // show puts the pair at a place of the list on the card, or the first undecided one from there on.
  async show(at, step) {
    const query = new URLSearchParams(this.holder.dataset.query);
    query.set("at", at);
    query.set("step", step);
    try {
      const answer = await fetch("/review/card?" + query);
      const html = await answer.text();
      if (!answer.ok) { say(html); return; }
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
    let html;
    try {
      html = await (await fetch(holder.dataset.src, { headers: { "X-Part": "1" } })).text();
    } catch {
      html = "<p>mine serve does not answer. Start it again, then load this page again.</p>";
    }
    const part = fragment(html);
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

tokens.take();
const index = document.getElementById("index");
if (index) index.addEventListener("click", makeIndex);
if (document.getElementById("indexing") && !document.querySelector("#q:focus")) setTimeout(() => location.reload(), 2000);
const card = document.getElementById("card");
const pair = document.getElementById("pair");
if (card) new Review(card);
if (pair) new Deciding(pair.parentElement);
const explanation = document.getElementById("explanation");
if (explanation) explain(explanation);
