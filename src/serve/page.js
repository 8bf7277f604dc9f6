
(() => {
  "use strict";
  const root = document.documentElement;
  const at = id => document.getElementById(id);
  /// An element with a text. What networks and people write enters the page here alone, as text.
  const make = (tag, classes = "", text = "") => {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text) element.textContent = text;
    return element;
  };

  // Dark and light: what the reader chose, otherwise what the system says.
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("pardec-theme"); } catch (error) { /* no storage here */ }
  const paint = () => {
    const theme = chosen || (system.matches ? "dark" : "light");
    root.dataset.theme = theme;
    at("theme").textContent = theme === "dark" ? "Light" : "Dark";
    at("theme").setAttribute("aria-label", "Change to " + (theme === "dark" ? "light" : "dark") + " colours");
  };
  at("theme").hidden = false;
  at("theme").addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("pardec-theme", chosen); } catch (error) { /* for this page only */ }
    paint();
  });
  system.addEventListener("change", paint);
  paint();

  // The server.
  const headers = () => {
    const key = at("key").value;
    return { "Content-Type": "application/json", ...(key ? { Authorization: "Bearer " + key } : {}) };
  };
  /// Throws the server's own words.
  const checked = async answer => {
    if (answer.ok) return answer;
    if (answer.status === 401) at("key-row").hidden = false;
    let said = "status " + answer.status;
    try { said = (await answer.json()).error.message; } catch (error) { /* no words */ }
    throw new Error(said);
  };
  /// Calls `take` with each event of a stream.
  const ask = async (body, signal, take) => {
    const answer = await checked(await fetch("v1/chat/completions", {
      method: "POST", headers: headers(), signal, body: JSON.stringify({ ...body, stream: true }),
    }));
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let held = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the answer broke off");
      const events = (held + value).split("\n\n");
      held = events.pop();
      for (const event of events) {
        const data = event.slice("data: ".length);
        if (data === "[DONE]") return;
        const json = JSON.parse(data);
        if (json.error) throw new Error(json.error.message);
        take(json);
      }
    }
  };
  const fault = error => {
    at("fault").textContent = error ? error.message : "";
    at("fault").hidden = !error;
  };

  // A lane: a decoder with its options, and what it writes.
  let models = [];
  const lanes = [];
  const mode = () => document.querySelector("[name=mode]:checked").value;

  class Lane {
    constructor(number) {
      this.number = number;
      this.box = make("section", "lane");
      this.box.setAttribute("aria-label", "Decoder " + (number + 1));
      const choice = make("div", "choice"), label = make("label", "", "Decoder");
      this.select = make("select");
      this.select.id = label.htmlFor = "model-" + number;
      choice.append(label, this.select);
      this.options = make("details", "options");
      this.options.append(make("summary", "", "Options"));
      this.grid = this.options.appendChild(make("div", "grid"));
      this.numbers = make("dl", "numbers");
      this.values = {};
      for (const [key, name] of [["tokens", "tokens"], ["passes", "passes"], ["ratio", "tokens a pass"], ["rate", "tokens a second"], ["accepted", "accepted"], ["rejected", "rejected"]]) {
        const cell = make("div");
        this.values[key] = make("dd", "", "-");
        cell.append(make("dt", "", name), this.values[key]);
        this.numbers.append(cell);
      }
      this.talk = make("div", "talk");
      this.talk.tabIndex = 0;
      this.talk.setAttribute("role", "log");
      this.talk.setAttribute("aria-label", "Answers of decoder " + (number + 1));
      this.talk.setAttribute("aria-live", "off");
      this.box.append(choice, this.options, this.numbers, this.talk);
      this.select.addEventListener("change", () => { this.picked[mode()] = this.select.value; this.showOptions(); });
      this.picked = {};  // the model that was chosen, by mode
      this.messages = [];
    }

    model() { return models[this.select.selectedIndex]; }

    showModels() {
      const before = this.select.value, picked = this.picked[mode()];
      this.select.replaceChildren(...models.map(model => {
        const option = make("option", "", model.id);
        option.value = model.id;
        option.disabled = mode() !== "job" && !model.pardec.open;
        return option;
      }));
      const free = [...this.select.options].filter(option => !option.disabled);
      const kept = free.find(option => option.value === picked);
      const usual = mode() === "job" ? free.findIndex(option => !models.find(m => m.id === option.value).pardec.open) : this.number + (models.length > 1);
      this.select.value = (kept || free[usual] || free[0] || { value: "" }).value;
      if (this.select.value !== before) this.showOptions();
    }

    showOptions() {
      const model = this.model();
      this.clear();
      this.grid.replaceChildren(...Object.entries(model ? model.pardec.options : {}).map(([name, value]) => {
        const label = make("label", "", name), input = make("input");
        input.type = typeof value === "boolean" ? "checkbox" : typeof value === "number" ? "number" : "text";
        if (input.type === "checkbox") input.checked = value;
        else input.value = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : value;
        if (input.type === "number") input.step = "any";
        input.dataset.name = name;
        input.dataset.before = JSON.stringify(value);
        label.append(input);
        return label;
      }));
      this.options.hidden = this.grid.children.length === 0;
    }

    /// The options that were changed.
    changed() {
      const changed = {};
      for (const input of this.grid.querySelectorAll("input")) {
        const value = input.type === "checkbox" ? input.checked : input.type === "number" ? input.valueAsNumber : input.value;
        const before = JSON.parse(input.dataset.before);
        const same = typeof before === "object" ? value === (before === null ? "" : JSON.stringify(before)) : value === before;
        if (!same) changed[input.dataset.name] = value;
      }
      return changed;
    }

    clear() {
      this.messages = [];
      this.talk.replaceChildren();
      for (const value of Object.values(this.values)) value.textContent = "-";
    }

    begin() {
      this.count = { tokens: 0, accepted: 0, rejected: 0 };
      this.passes = new Map();  // of each answer
      this.since = performance.now();
      this.showNumbers();
    }

    showNumbers() {
      const { tokens, accepted, rejected } = this.count;
      const passes = [...this.passes.values()].reduce((a, b) => a + b, 0);
      const seconds = (performance.now() - this.since) / 1000;
      const show = (key, text) => { this.values[key].textContent = text; };
      show("tokens", tokens);
      show("passes", passes);
      show("ratio", passes ? (tokens / passes).toFixed(2) : "-");
      show("rate", tokens && seconds > 0 ? (tokens / seconds).toFixed(1) : "-");
      show("accepted", accepted);
      show("rejected", rejected);
    }

    /// One answer. `target`: where its streams go; `named(stream)`: the place of a stream that has
    /// one, else null.
    async answer(body, signal, target, named = () => null) {
      const model = this.model(), options = this.changed(), streams = new Map(), id = {};
      let text = "", last = null;
      const place = began => {
        const own = named(began.stream);
        if (own) own.replaceChildren();
        const box = own || make("div", "stream"), colour = "var(--branch-" + streams.size % 8 + ")";
        const line = began.before.trim().split("\n").pop();
        if (!own) {
          box.style.borderLeftColor = colour;
          if (line) box.append(make("span", "before", line.slice(-40)));
          target.append(box);
        }
        const words = box.appendChild(make("span", "text"));
        streams.set(began.stream, { words, colour, refused: null });
      };
      const follows = () => {
        if (this.talk.scrollHeight - this.talk.scrollTop - this.talk.clientHeight < 120) return () => { this.talk.scrollTop = this.talk.scrollHeight; };
        return () => {};
      };
      await ask({
        model: model.id, temperature: at("temperature").valueAsNumber, max_tokens: at("most").valueAsNumber,
        ...body, pardec: { events: true, options, ...body.pardec },
      }, signal, json => {
        const scroll = follows();
        for (const choice of json.choices) text += choice.delta.content || "";
        const pass = json.pardec;
        if (pass && pass.tokens) {
          pass.streams.forEach(place);
          for (const token of pass.tokens) {
            const stream = streams.get(token.stream);
            if (!stream) continue;
            const rejected = token.kind === "rejected";
            if (rejected) {
              ++this.count.rejected;
              // Of the guesses that were rejected at a place, the first shows.
              if (stream.refused) continue;
            } else {
              ++this.count.tokens;
              if (token.kind === "guessed") ++this.count.accepted;
            }
            const shown = rejected ? token.text.replace(/\n/g, "\u21b5")
              : named(token.stream) ? token.text.replace(/\n+$/, "") : token.text;
            const span = make("span", "token fresh" + (token.kind === "chosen" ? "" : " " + token.kind), shown);
            if (!rejected) span.style.backgroundColor = stream.colour;
            stream.refused = rejected ? span : null;
            stream.words.append(span);
          }
          this.passes.set(id, pass.passes);
          this.showNumbers();
        } else if (pass) {
          last = pass;
        }
        scroll();
      });
      if (last) this.passes.set(id, last.passes);
      this.showNumbers();
      return { text, streams: streams.size };
    }

    async chat(prompt, signal) {
      const turn = make("div", "turn");
      turn.append(make("p", "asked", prompt));
      const target = turn.appendChild(make("div"));
      this.talk.append(turn);
      this.talk.scrollTop = this.talk.scrollHeight;
      this.begin();
      const messages = [...this.messages, { role: "user", content: prompt }];
      const { text, streams } = await this.answer({ messages }, signal, target);
      if (streams !== 1) {
        target.append(make("p", "whole", text));
        this.talk.scrollTop = this.talk.scrollHeight;
      }
      this.messages = [...messages, { role: "assistant", content: text }];
    }

    async fill(titles, category, fields, signal) {
      this.talk.replaceChildren();
      this.begin();
      await Promise.all(titles.map(async (title, index) => {
        const turn = make("div", "turn");
        turn.append(make("p", "asked", title));
        const table = make("table"), cells = fields.map(field => {
          const row = table.insertRow(), head = make("th", "", field);
          head.scope = "row";
          row.append(head);
          return row.insertCell();
        });
        const target = make("div");
        turn.append(table, target);
        this.talk.append(turn);
        const context = { id: "text", category, text: title, fields: fields.map(name => ({ name })) };
        // A decoder with one stream for each value begins them in the order of the fields.
        const asks = this.changed().ask || this.model().pardec.options.ask;
        const inOrder = asks === undefined || asks === "separately";
        const { text } = await this.answer(
          { messages: [], pardec: { job: { id: "title-" + (index + 1), contexts: [context] } } }, signal, target,
          stream => (inOrder ? cells[stream] : null) || null);
        const values = JSON.parse(text);
        fields.forEach((field, i) => {
          const value = values[field];
          if (value === null || cells[i].textContent !== value) {
            cells[i].replaceChildren(value === null ? make("span", "absent", "none") : make("span", "text", value));
          }
        });
      }));
    }
  }

  // The form.
  let running = null;
  const showMode = () => {
    const lane = number => lanes[number] || (lanes[number] = new Lane(number));
    const shown = mode() === "race" ? [lane(0), lane(1)] : [lane(0)];
    at("lanes").replaceChildren(...shown.map(one => one.box));
    at("prompt-row").hidden = mode() === "job";
    at("job-row").hidden = mode() !== "job";
    at("send").textContent = mode() === "chat" ? "Send" : mode() === "race" ? "Race" : "Fill";
    for (const one of shown) one.showModels();
    return shown;
  };
  for (const radio of document.querySelectorAll("[name=mode]"))
    radio.addEventListener("change", () => { stop(); showMode().forEach(one => one.clear()); });

  const stop = () => { if (running) running.abort(); };
  const work = async () => {
    const prompt = at("prompt").value, lines = at("titles").value.split("\n").map(line => line.trim()).filter(Boolean);
    const fields = at("fields").value.split(",").map(name => name.trim()).filter(Boolean);
    if (running || (mode() === "job" ? !lines.length || !fields.length : !prompt.trim())) return;
    const own = running = new AbortController();
    const shown = showMode();
    fault(null);
    at("send").disabled = true;
    at("stop").disabled = false;
    at("status").textContent = "Running.";
    const finished = [];
    const one = async lane => {
      try {
        await (mode() === "job" ? lane.fill(lines, at("category").value.trim(), fields, own.signal) : lane.chat(prompt, own.signal));
        finished.push(lane);
      } catch (error) {
        if (error.name !== "AbortError") { fault(error); own.abort(); }
      }
    };
    await Promise.all(shown.map(one));
    running = null;
    at("send").disabled = false;
    at("stop").disabled = true;
    const first = finished[0];
    at("status").textContent = finished.length < shown.length ? "Stopped."
      : shown.length > 1 ? "First: " + first.select.value + "." : "Done.";
    if (mode() === "chat" && finished.length) at("prompt").value = "";
  };

  const connect = async () => {
    try {
      models = (await (await checked(await fetch("v1/models", { headers: headers() }))).json()).data;
      fault(null);
      showMode();
      root.dataset.ready = "true";
    } catch (error) {
      fault(error);
    }
  };
  at("ask").addEventListener("submit", async event => {
    event.preventDefault();
    if (!models.length) await connect();
    if (models.length) work();
  });
  at("key").addEventListener("change", connect);
  at("stop").addEventListener("click", stop);
  at("clear").addEventListener("click", () => { stop(); lanes.forEach(lane => lane.clear()); at("status").textContent = ""; });
  at("prompt").addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    at("ask").requestSubmit();
  });
  document.addEventListener("keydown", event => { if (event.key === "Escape") stop(); });
  connect();
})();
