// Search on pages that are opened from disk: browsers start no worker there, so a hidden
// frame does its work.
if (location.protocol === "file:") {
  const answers = (window.frameWorkers = []);
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const number = answers.push((data) => {
        this.dispatchEvent(new MessageEvent("message", { data }));
      }) - 1;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc =
        `<script>self.postMessage = (data) => parent.frameWorkers[${number}](data)</script>` +
        `<script src="${url}"></script>`;
      this.loaded = new Promise((resolve) => {
        frame.onload = () => resolve(frame.contentWindow);
      });
      document.body.append(frame);
    }
    postMessage(data) {
      this.loaded.then((inner) => {
        inner.dispatchEvent(new inner.MessageEvent("message", { data }));
      });
    }
    terminate() {}
  };
}
