/**
 * Parses the base URL of a server; undefined if the text is not an http or https URL, or contains more than a location: a user,
 * a password, a query, a fragment or whitespace.
 */
export function baseUrl(text: string): URL | undefined {
  if (/[\s?#]/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const web = url.protocol === 'http:' || url.protocol === 'https:'
  return web && url.username === '' && url.password === '' ? url : undefined
}

/** Whether data sent there is encrypted in transit or stays on this machine. */
export function isHttpsOrLocal({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
