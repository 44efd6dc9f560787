import { parseJson } from '../../encoding/json.ts'
import { quoted, shortened } from '../../encoding/quote.ts'
import { topLevelMembers } from '../../encoding/top-level-members.ts'
import { RELAY_URL } from '../../model/tether/relay-url.ts'
import { refusal, type RefusedCall } from './refusal.ts'
import type { RelayRules, Spend } from './rules.ts'

/** The head of a request, as a guest sent it. */
export interface RequestHead {
  readonly method: string
  readonly path: string
  readonly scheme: string
  readonly authority: string
  header(name: string): string | undefined
}

const RELAY = new URL(RELAY_URL)

/** Why a request is refused before its body is read. Compares exact text, so no encoding of another path is accepted. Pure. */
export function headRefusal(head: RequestHead, path: string): RefusedCall | undefined {
  if (head.method !== 'POST') return denied(`method ${shown(head.method)}; only POST is allowed`)
  if (`${head.scheme}:` !== RELAY.protocol || head.authority !== RELAY.host) {
    const origin = `${head.scheme}://${head.authority}`
    return denied(`origin ${shown(origin)}; only the configured provider is allowed`)
  }
  if (head.path !== path) return denied(`path ${shown(head.path)}; only ${path} is allowed`)
  const type = head.header('content-type') ?? ''
  if (!JSON_TYPE.test(type)) return denied(`content type ${shown(type)}; only JSON is allowed`)
  const coding = head.header('content-encoding') ?? 'identity'
  return coding === 'identity'
    ? undefined
    : denied(`content encoding ${shown(coding)}; only plain bodies are allowed`)
}

const JSON_TYPE = /^application\/json(?:\s*;\s*charset=utf-8)?$/i

/**
 * The model of a request, or why the request is refused. The body must be one JSON object, whose top-level fields are all listed,
 * occur once and are written without escapes. So no server can read another model from it, whatever it does about repeated keys
 * or the case of keys. Pure.
 */
export function judgedModel(
  body: Buffer,
  { models, access: { fields } }: Pick<RelayRules, 'models' | 'access'>,
): { readonly model: string } | RefusedCall {
  const members = topLevelMembers(body)
  if (members === undefined) return denied('the body, which is not one JSON object')
  const unknown = members.find(({ key }) => !fields.includes(key))
  if (unknown !== undefined) return denied(`field ${shown(unknown.key)} of the body`)
  const keys = new Set(members.map(({ key }) => key))
  if (keys.size < members.length) return denied('a body with a repeated field')
  const named = members.find(({ key }) => key === 'model')
  if (named === undefined) return denied('a body without a model')
  const model = models.find((name) => isText(body.subarray(named.from, named.to), name))
  if (model !== undefined) return { model }
  const text = body.toString('utf8', named.from, Math.min(named.to, named.from + LONGEST_QUOTE))
  const given = parseJson(text)
  const name = shown(typeof given === 'string' ? given : text)
  return denied(`model ${name}; allowed: ${models.join(', ') || 'none'}`)
}

/** Whether JSON is this text, written in the only way that our encoders write it. */
function isText(json: Buffer, text: string): boolean {
  return json.equals(Buffer.from(JSON.stringify(text)))
}

/** Why a call to a model is refused although its name is allowed: a limit can be enforced only for known prices. Pure. */
export function priceRefusal(
  { ceilingUsd, access }: Pick<RelayRules, 'ceilingUsd' | 'access'>,
  model: string,
): RefusedCall | undefined {
  if (ceilingUsd === undefined || access.factsOf(model)?.prices !== undefined) return undefined
  return denied(`model ${shown(model)}: this instance has a spending limit, but no price is known`)
}

/** Why no call is allowed at all. Pure. */
export function ceilingRefusal(
  { ceilingUsd }: Pick<RelayRules, 'ceilingUsd'>,
  { usd, estimatedUsd }: Spend,
): RefusedCall | undefined {
  if (ceilingUsd === undefined) return undefined
  if (usd < ceilingUsd) return undefined
  const estimated = estimatedUsd > 0 ? `, of which $${figure(estimatedUsd)} is estimated` : ''
  const spent = `This instance has spent $${figure(usd)}${estimated}`
  return refusal('ceiling', `${spent}; its spending limit is $${figure(ceilingUsd)}.`)
}

function figure(usd: number): string {
  return usd.toFixed(usd < 1 ? 4 : 2)
}

const LONGEST_QUOTE = 100

/** Text of a guest, safe for a log and a message. */
function shown(text: string): string {
  return quoted(shortened(text, LONGEST_QUOTE))
}

function denied(what: string): RefusedCall {
  return refusal('denied', `The relay refused ${what}.`)
}
