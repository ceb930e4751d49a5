// The page that the server serves: one studio that fills the window.

import { Connection, WebSocketTransport } from "./connection.js";
import { Studio } from "./studio.js";

const scheme = location.protocol === "https:" ? "wss:" : "ws:";
const connection = new Connection(new WebSocketTransport(`${scheme}//${location.host}/socket`));
const studio = new Studio(connection);
document.body.append(studio.element);
studio.start();
