// Requests to the studio and what it announces, over any transport: a WebSocket here, a notebook's channel elsewhere.

/**
 * What carries messages. It calls `receive` with each message and `changed` when it connects or loses the connection.
 * @typedef {object} Transport
 * @property {(receive: (message: any) => void, changed: (connected: boolean) => void) => void} open
 * @property {(message: any) => void} send
 */

export class StudioError extends Error {
  /** @param {{message?: string, advice?: string, code?: string, [fact: string]: any}} facts */
  constructor(facts) {
    super(facts.message ?? "The studio could not do that.");
    this.facts = facts;
    this.advice = facts.advice ?? "";
    this.code = facts.code ?? "";
  }
}

/** A WebSocket that connects again, after 0.25 s at first and then less and less often. */
export class WebSocketTransport {
  /** @param {string} address */
  constructor(address) {
    this.address = address;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.wait = 250;
  }

  /**
   * @param {(message: any) => void} receive
   * @param {(connected: boolean) => void} changed
   */
  open(receive, changed) {
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.wait = 250;
      changed(true);
    });
    socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      changed(false);
      setTimeout(() => this.open(receive, changed), this.wait);
      this.wait = Math.min(this.wait * 1.7, 5000);
    });
  }

  /** @param {any} message */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN)
      throw new StudioError({
        message: "The studio does not answer.",
        advice: "If its window or terminal was closed, start it again; the page connects by itself.",
        code: "offline",
      });
    this.socket.send(JSON.stringify(message));
  }
}

/** Requests with answers; announcements go to listeners. */
export class Connection {
  /** @param {Transport} transport */
  constructor(transport) {
    this.transport = transport;
    this.next = 1;
    this.connected = false;
    /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    /** @type {Map<string, Set<(message: any) => void>>} */
    this.listeners = new Map();
    /** @type {Map<string, {again: (() => void) | null}>} */
    this.streams = new Map();
  }

  open() {
    this.transport.open(
      (message) => this.receive(message),
      (connected) => {
        this.connected = connected;
        if (!connected) {
          const lost = new StudioError({ message: "The connection was lost.", code: "offline" });
          for (const { reject } of this.waiting.values()) reject(lost);
          this.waiting.clear();
        }
        this.tell("connection", { connected });
      },
    );
  }

  /** @param {any} message */
  receive(message) {
    const asked = message.id === undefined || message.id === null ? null : this.waiting.get(message.id);
    if (asked) {
      this.waiting.delete(message.id);
      if (!this.waiting.size) this.tell("busy", { busy: false });
      if (message.ok === false || message.error) asked.reject(new StudioError(message.error ?? message));
      else asked.resolve(message);
    } else if (message.type) this.tell(message.type, message);
  }

  /**
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @returns {Promise<any>}
   */
  request(type, fields = {}) {
    const id = this.next++;
    this.tell("busy", { busy: true });
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      try {
        this.transport.send({ ...fields, id, type });
      } catch (error) {
        this.waiting.delete(id);
        reject(/** @type {Error} */ (error));
      }
    });
  }

  /**
   * Requests of which only the latest matters, such as those of a drag: one is under way, at most one waits.
   * @param {string} key
   * @param {() => Promise<void>} ask
   */
  async stream(key, ask) {
    const running = this.streams.get(key);
    if (running) {
      running.again = ask;
      return;
    }
    /** @type {{again: (() => Promise<void>) | null}} */
    const turn = { again: ask };
    this.streams.set(key, turn);
    try {
      while (turn.again) {
        const latest = turn.again;
        turn.again = null;
        await latest();
      }
    } finally {
      this.streams.delete(key);
    }
  }

  /**
   * @param {string} type
   * @param {(message: any) => void} listener
   * @returns {() => void} stops listening
   */
  on(type, listener) {
    const found = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, found);
    found.add(listener);
    return () => found.delete(listener);
  }

  /**
   * @param {string} type
   * @param {any} message
   */
  tell(type, message) {
    for (const listener of this.listeners.get(type) ?? []) listener(message);
  }
}
