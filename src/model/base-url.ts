/**
 * The place that requests go to, by the URL that all their paths begin with; `undefined` when the text is no http or https URL,
 * or holds more than a place: a user, a password, a query, a fragment, white space.
 */
export function baseUrl(text: string): URL | undefined {
  if (/[\s?#]/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const web = url.protocol === 'http:' || url.protocol === 'https:'
  return web && url.username === '' && url.password === '' ? url : undefined
}

/** What is sent there is sealed on its way, or stays on this machine. */
export function isSealedOrHere({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
