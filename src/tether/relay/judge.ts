import { parseJson } from '../../encoding/json.ts'
import { quote, shorten } from '../../encoding/quote.ts'
import { ObjectScan, type Member } from '../../encoding/top-level-members.ts'
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
  if (head.method !== 'POST')
    return deniedCall(`method ${shortQuote(head.method)}; only POST is allowed`)
  if (`${head.scheme}:` !== RELAY.protocol || head.authority !== RELAY.host) {
    const origin = `${head.scheme}://${head.authority}`
    return deniedCall(`origin ${shortQuote(origin)}; only the configured provider is allowed`)
  }
  if (head.path !== path)
    return deniedCall(`path ${shortQuote(head.path)}; only ${path} is allowed`)
  const type = head.header('content-type') ?? ''
  if (!JSON_TYPE.test(type))
    return deniedCall(`content type ${shortQuote(type)}; only JSON is allowed`)
  const coding = head.header('content-encoding') ?? 'identity'
  return coding === 'identity'
    ? undefined
    : deniedCall(`content encoding ${shortQuote(coding)}; only plain bodies are allowed`)
}

const JSON_TYPE = /^application\/json(?:\s*;\s*charset=utf-8)?$/i

/**
 * Judges a body as it arrives. It must be one JSON object, whose top-level fields are all listed, occur once and are written
 * without escapes. So no server can read another model from it, whatever it does about repeated keys or the case of keys.
 */
export class BodyJudge {
  readonly #models: readonly string[]
  readonly #fields: readonly string[]
  readonly #scan = new ObjectScan()
  #keysRead = 0
  #membersRead = 0
  #model: string | undefined

  constructor({ models, access: { fields } }: Pick<RelayRules, 'models' | 'access'>) {
    this.#models = models
    this.#fields = fields
  }

  /** The model that the body names, as soon as it is known: one of the list. */
  get model(): string | undefined {
    return this.#model
  }

  /** Whether the object has ended. Only space may follow. */
  get isWhole(): boolean {
    return this.#scan.isWhole
  }

  /** Why the body is refused, whatever follows. */
  push(chunk: Buffer): RefusedCall | undefined {
    const isObject = this.#scan.push(chunk)
    return this.#refusedKey() ?? this.#refusedModel() ?? (isObject ? undefined : NOT_AN_OBJECT)
  }

  /** Why the body is refused, now that it is complete. If it is not, its model is known. */
  end(): RefusedCall | undefined {
    if (!this.#scan.isWhole) return NOT_AN_OBJECT
    return this.#model === undefined ? deniedCall('a body without a model') : undefined
  }

  #refusedKey(): RefusedCall | undefined {
    const { keys } = this.#scan
    for (; this.#keysRead < keys.length; this.#keysRead += 1) {
      const key = keys[this.#keysRead] ?? ''
      if (!this.#fields.includes(key)) return deniedCall(`field ${shortQuote(key)} of the body`)
      if (keys.indexOf(key) < this.#keysRead) return deniedCall('a body with a repeated field')
    }
    return undefined
  }

  #refusedModel(): RefusedCall | undefined {
    const { members } = this.#scan
    for (; this.#membersRead < members.length; this.#membersRead += 1) {
      const member = members[this.#membersRead]
      if (member?.key !== 'model') continue
      this.#model = this.#models.find((name) => isText(member, name))
      if (this.#model !== undefined) continue
      const text = member.beginning.toString('utf8', 0, LONGEST_QUOTE)
      const given = parseJson(text)
      const name = shortQuote(typeof given === 'string' ? given : text)
      return deniedCall(`model ${name}; allowed: ${this.#models.join(', ') || 'none'}`)
    }
    return undefined
  }
}

/** Whether a value is this text, written in the only way that our encoders write it. */
function isText({ from, to, beginning }: Member, text: string): boolean {
  return to - from === beginning.length && beginning.equals(Buffer.from(JSON.stringify(text)))
}

/** Why a call to a model is refused although its name is allowed: a limit can be enforced only for known prices. Pure. */
export function priceRefusal(
  { ceilingUsd, access }: Pick<RelayRules, 'ceilingUsd' | 'access'>,
  model: string,
): RefusedCall | undefined {
  if (ceilingUsd === undefined || access.factsOf(model)?.prices !== undefined) return undefined
  return deniedCall(
    `model ${shortQuote(model)}: this instance has a spending limit, but no price is known`,
  )
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
function shortQuote(text: string): string {
  return quote(shorten(text, LONGEST_QUOTE))
}

function deniedCall(what: string): RefusedCall {
  return refusal('denied', `The relay refused ${what}.`)
}

const NOT_AN_OBJECT = deniedCall('the body, which is not one JSON object')
