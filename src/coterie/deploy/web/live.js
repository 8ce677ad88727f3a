// Keeps the page up to date: when the agent says that something has changed, the page is fetched again and what differs is put in.
(function () {
  "use strict";
  let lost = 0, due = false, busy = false;

  function ago(seconds) {
    if (seconds < 2) return "now";
    for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit} ago`;
    return `${Math.floor(seconds)} s ago`;
  }

  function tick() {
    document.querySelectorAll("time[data-at]").forEach((one) => {
      if (!one.title) one.title = one.textContent;
      one.textContent = ago(Date.now() / 1000 - Number(one.dataset.at));
    });
    const live = document.querySelector(".live");
    live.classList.toggle("lost", lost > 0);
    live.lastElementChild.textContent = lost ? `no answer since ${new Date(lost).toLocaleTimeString()}` : "live";
  }

  const made = new Map();
  function parts(page) { return [...page.querySelectorAll("main > [id]")]; }
  parts(document).forEach((part) => made.set(part.id, part.outerHTML));

  function put(text) {
    const fresh = parts(new DOMParser().parseFromString(text, "text/html")), old = parts(document);
    if (fresh.map((part) => part.id).join() !== old.map((part) => part.id).join()) return location.reload();
    fresh.forEach((part, place) => {
      const source = part.outerHTML;
      if (made.get(part.id) === source) return;
      made.set(part.id, source);
      part.querySelectorAll("details").forEach((one) => { one.open = document.getElementById(one.id).open; });
      old[place].replaceWith(document.adoptNode(part));
    });
    tick();
  }

  async function refresh() {
    due = true;
    if (busy) return;
    busy = true;
    try {
      while (due) {
        due = false;
        const answer = await fetch("/", { cache: "no-store" });
        if (answer.ok) put(await answer.text());
      }
    } catch (error) {
      lost = lost || Date.now();
    } finally {
      busy = false;
    }
  }

  function listen() {
    const events = new EventSource("/v1/events");
    events.addEventListener("state", () => { lost = 0; refresh(); });
    events.onerror = () => {
      lost = lost || Date.now();
      tick();
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    };
    addEventListener("pagehide", () => events.close(), { once: true });
  }

  tick();
  setInterval(tick, 1000);
  listen();
})();
