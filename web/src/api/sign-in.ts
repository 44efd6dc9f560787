import { storeToken } from '../store/token.ts'
import { request } from './server.ts'

/** What the link of `hawser up --open` says. */
export interface LinkContent {
  readonly code?: string
  readonly folder?: string
}

/** Reads the fragment, and removes it from the address and the history at once. */
export function takeLink(): LinkContent {
  const given = new URLSearchParams(location.hash.slice(1))
  if (location.hash !== '') history.replaceState(null, '', location.pathname)
  const [code, folder] = [given.get('code'), given.get('folder')]
  return { ...(code === null ? {} : { code }), ...(folder === null ? {} : { folder }) }
}

/** Exchanges the code for the token. Returns why it failed. */
export async function redeem(code: string): Promise<string | undefined> {
  const answer = await request<{ token: string }>('POST', '/page/token', { body: { code } })
  if (!answer.ok) return answer.failure.message
  storeToken(answer.value.token)
  return undefined
}
