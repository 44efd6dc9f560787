/**
 * The base URL of every provider in a guest. It names the relay, not a host: the server alone knows the configured base URL,
 * which may contain a secret.
 */
export const RELAY_URL = 'http://relay'
