(() => {
  "use strict";
  const root = document.documentElement;

  // Dark and light: what the reader chose, else what the system says.
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("pardec-theme"); } catch (error) { /* no storage here */ }
  const show = () => {
    const theme = chosen || (system.matches ? "dark" : "light");
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", "Change to " + (theme === "dark" ? "light" : "dark") + " colours");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("pardec-theme", chosen); } catch (error) { /* for this page only */ }
    show();
  });
  system.addEventListener("change", show);
  show();

  // Sorting by a column: numbers by value, what has none last, ties as they stood.
  const value = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return null;
    if (cell.dataset.value === undefined) return cell.textContent === "-" ? null : cell.textContent;
    let parsed = JSON.parse(cell.dataset.value);
    while (Array.isArray(parsed)) parsed = parsed[0];
    return parsed;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending"
        || (head.getAttribute("aria-sort") !== "ascending" && !head.classList.contains("number"));
      heads.forEach(other => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = [...body.rows].map(row => [value(row, column), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return up ? compare(a, b) : compare(b, a);
      });
      body.append(...rows.map(([, row]) => row));
    }));
  }

  // Rows of a table that have one text in a column.
  for (const group of document.querySelectorAll("[data-rows-of]")) {
    const table = document.getElementById(group.dataset.rowsOf);
    const column = [...table.tHead.rows[0].cells].findIndex(head => head.dataset.key === group.dataset.column);
    const buttons = [...group.querySelectorAll("button")];
    buttons.forEach(button => button.addEventListener("click", () => {
      buttons.forEach(other => other.setAttribute("aria-pressed", String(other === button)));
      for (const row of table.tBodies[0].rows) row.hidden = button.value !== "" && row.cells[column].textContent !== button.value;
    }));
    group.hidden = false;
  }

  // Examples: one at a time, chosen from a list that a filter makes shorter.
  const browser = document.getElementById("browser");
  if (browser) {
    const examples = [...browser.querySelectorAll(".example")];
    const list = document.getElementById("chosen");
    const arm = document.getElementById("of-arm");
    const filters = [...browser.querySelectorAll("[data-filter]")];
    const tokensButton = document.getElementById("show-tokens");
    const several = new Set(examples.map(e => e.querySelector(".meta span:nth-child(2)").textContent)).size > 1;
    const scrub = browser.querySelector(".scrub"), pass = document.getElementById("pass"), play = document.getElementById("play");
    let filter = "all", shown = [], at = 0, tokens = false, timer = null;
    const stop = () => {
      clearInterval(timer);
      timer = null;
      play.setAttribute("aria-pressed", "false");
    };

    const options = examples.map((example, i) => {
      const option = document.createElement("li");
      option.id = "choice-" + (i + 1);
      option.setAttribute("role", "option");
      const begin = (example.querySelector(".prompt") || example.querySelector(".question") || { textContent: "" }).textContent;
      const meta = [...example.querySelector(".meta").children].map(e => e.textContent);
      option.textContent = several ? meta[1] + " " + meta[0] : meta[0];
      const small = document.createElement("small");
      small.textContent = begin.length > 60 ? begin.slice(0, 58) + "\u2026" : begin;
      option.append(small);
      option.addEventListener("click", () => { choose(shown.indexOf(i)); list.focus({ preventScroll: true }); });
      list.append(option);
      return option;
    });

    // Tokens stand in the page as JSON, and are written out when they are asked for.
    const writeTokens = example => {
      const arms = JSON.parse(example.querySelector("script").textContent);
      [...example.querySelectorAll(".arm")].forEach((element, a) => {
        const box = element.querySelector(".tokens");
        if (!box.dataset.written) {
          box.dataset.written = "yes";
          const progress = document.createElement("p");
          progress.className = "progress";
          progress.hidden = true;
          box.append(progress);
          for (const [field, texts, passes, rejected] of arms[a]) {
            const line = document.createElement("p");
            if (field) line.append(field + ": ");
            const struck = [...rejected];
            const strike = before => {  // guesses that were checked before this pass
              while (struck.length && struck[0][0] < before) {
                const [pass, text] = struck.shift();
                const guess = document.createElement("span");
                guess.className = "rejected";
                guess.dataset.pass = pass;
                guess.textContent = text;
                guess.hidden = true;
                line.append(guess, document.createElement("wbr"));
              }
            };
            texts.forEach((text, t) => {
              if (passes.length) strike(passes[t]);
              const token = document.createElement("span");
              token.textContent = text;
              if (passes.length) {
                token.className = passes[t] % 2 ? "odd" : "even";
                token.title = "pass " + passes[t];
                token.dataset.pass = passes[t];
                const number = document.createElement("sub");
                number.textContent = passes[t];
                token.append(number);
              }
              line.append(token, document.createElement("wbr"));
            });
            strike(Infinity);
            box.append(line);
          }
          if (!arms[a].length) box.append("no tokens");
          else if (arms[a].some(line => !line[2].length)) box.append("Passes: not in the store (run `trace`, report `trace`).");
        }
        box.hidden = !tokens;
      });
      const last = Math.max(0, ...[...example.querySelectorAll("[data-pass]")].map(e => +e.dataset.pass));
      scrub.hidden = !tokens || last === 0;
      pass.max = last;
      pass.value = last;
      stop();
      toPass(example);
    };

    // What all arms had written when a pass was over; at the last one nothing is held back.
    const toPass = example => {
      const now = +pass.value, whole = now === +pass.max;
      document.getElementById("at-pass").textContent = now + " of " + pass.max;
      for (const box of example.querySelectorAll(".tokens")) {
        let written = 0, all = 0, rejected = 0;
        for (const token of box.querySelectorAll("[data-pass]")) {
          const at = +token.dataset.pass;
          if (token.classList.contains("rejected")) {
            token.hidden = whole || at !== now;
            rejected += at <= now;
            continue;
          }
          token.classList.toggle("later", at > now);
          all += 1;
          written += at <= now;
        }
        const progress = box.querySelector(".progress");
        progress.hidden = !all;
        progress.textContent = written + " of " + all + " tokens" + (rejected ? ", " + rejected + " guesses rejected" : "");
      }
    };

    const choose = index => {
      if (!shown.length) {
        at = 0;
        stop();
        scrub.hidden = true;
        examples.forEach(example => example.classList.add("away"));
        list.removeAttribute("aria-activedescendant");
        document.getElementById("place").textContent = "none";
        return;
      }
      at = Math.max(0, Math.min(index, shown.length - 1));
      examples.forEach((example, i) => example.classList.toggle("away", i !== shown[at]));
      options.forEach((option, i) => option.setAttribute("aria-selected", String(i === shown[at])));
      const option = options[shown[at]];
      list.setAttribute("aria-activedescendant", option.id);
      const top = option.offsetTop - list.offsetTop, bottom = top + option.offsetHeight;
      if (top < list.scrollTop) list.scrollTop = top;
      if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
      document.getElementById("place").textContent = (at + 1) + " of " + shown.length;
      for (const element of examples[shown[at]].querySelectorAll(".arm"))
        element.classList.toggle("other", arm.value !== "" && element.dataset.arm !== arm.value);
      if (tokens || examples[shown[at]].querySelector("[data-written]")) writeTokens(examples[shown[at]]);
    };

    const fits = example => filter === "all" || [...example.querySelectorAll(".arm")].some(element =>
      (arm.value === "" || element.dataset.arm === arm.value) && element.dataset.kinds.split(" ").includes(filter));
    const sift = () => {
      const kept = shown[at];
      shown = examples.map((_, i) => i).filter(i => fits(examples[i]));
      options.forEach((option, i) => { option.hidden = !shown.includes(i); });
      filters.forEach(other => other.setAttribute("aria-pressed", String(other.dataset.filter === filter)));
      choose(Math.max(0, shown.indexOf(kept)));
    };
    filters.forEach(button => button.addEventListener("click", () => { filter = button.dataset.filter; sift(); }));
    arm.addEventListener("change", sift);
    document.getElementById("previous").addEventListener("click", () => choose(at - 1));
    document.getElementById("next").addEventListener("click", () => choose(at + 1));
    tokensButton.addEventListener("click", () => {
      tokens = !tokens;
      tokensButton.setAttribute("aria-pressed", String(tokens));
      choose(at);
    });
    pass.addEventListener("input", () => { stop(); toPass(examples[shown[at]]); });
    play.addEventListener("click", () => {
      if (timer) { stop(); return; }
      if (pass.value === pass.max) pass.value = 0;
      play.setAttribute("aria-pressed", "true");
      timer = setInterval(() => {
        pass.value = +pass.value + 1;
        toPass(examples[shown[at]]);
        if (pass.value === pass.max) stop();
      }, 150);
    });
    // Arrow keys choose wherever the focus is in here, and sideways also where the examples are what is
    // looked at. A field, and a box that scrolls that way, keep theirs.
    const moves = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    const lookedAt = () => {
      const box = browser.getBoundingClientRect(), seen = Math.min(box.bottom, root.clientHeight) - Math.max(box.top, 0);
      return seen > 0 && (seen >= box.height - 1 || seen >= root.clientHeight / 2);
    };
    const scrolls = (element, sideways) => {
      const style = getComputedStyle(element);
      return sideways ? /auto|scroll/.test(style.overflowX) && element.scrollWidth > element.clientWidth
        : /auto|scroll/.test(style.overflowY) && element.scrollHeight > element.clientHeight;
    };
    document.addEventListener("keydown", event => {
      const key = event.key, from = event.target, sideways = key === "ArrowLeft" || key === "ArrowRight";
      if (!(key in moves) || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      if (from !== list) {
        if (!key.startsWith("Arrow") || !(browser.contains(from) || (sideways && lookedAt()))) return;
        if (from.closest("input, select, textarea, [contenteditable]")) return;
        for (let box = from; box && box !== document.body; box = box.parentElement) if (scrolls(box, sideways)) return;
      }
      event.preventDefault();
      choose(at + moves[key]);
    });
    const toNamed = () => {
      const named = examples.findIndex(example => "#" + example.id === location.hash);
      if (named < 0) return;
      filter = "all";
      sift();
      choose(named);
    };
    window.addEventListener("hashchange", toNamed);
    browser.querySelector(".filter").hidden = false;
    browser.querySelector(".chooser").hidden = false;
    browser.querySelector(".browse").classList.add("chosen");
    sift();
    toNamed();
  }
  window.addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll(".warnings details")) folded.open = true;
  });
  root.dataset.ready = "yes";
})();
