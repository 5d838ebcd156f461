// Requests to the program. The token is the fragment of the address, which browsers keep to themselves.

const token = location.hash.slice(1);

/** What the program refused, in its words. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, options = {}) {
  const response = await fetch(path, { ...options, headers: { "x-lfield-token": token }, cache: "no-store" });
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({ error: response.statusText }));
  throw new Refusal(response.status, error);
}

export const json = async (path) => (await request(path)).json();
export const bytes = async (path) => (await request(path)).arrayBuffer();
export const picture = async (path) => createImageBitmap(await (await request(path)).blob());
export const blob = async (path) => (await request(path)).blob();
export const post = async (path, body = {}) =>
  (await request(path, { method: "POST", body: JSON.stringify(body) })).json();
