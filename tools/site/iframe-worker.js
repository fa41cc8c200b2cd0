// Lets the search run where the site is opened from the disk: browsers start no Worker there. An
// iframe runs the script instead. The theme loads this file before its own scripts.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const worker = new URL(url, location.href);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.started = new Promise((resolve) => {
        const begin = () => {
          document.body.append(frame);
          const inside = frame.contentWindow;
          const answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const load = (source) =>
            new Promise((done) => {
              const script = inside.document.createElement("script");
              script.src = new URL(source, worker);
              script.onload = script.onerror = done;
              inside.document.body.append(script);
            });
          inside.document.write("<body></body>");
          inside.document.close();
          inside.postMessage = answer;
          inside.importScripts = (...sources) => sources.reduce((all, s) => all.then(() => load(s)), Promise.resolve());
          load(worker).then(() => resolve(inside));
        };
        document.body ? begin() : addEventListener("DOMContentLoaded", begin);
      });
    }

    set onmessage(handler) {
      this.addEventListener("message", handler);
    }

    postMessage(data) {
      this.started.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {}
  };
}
