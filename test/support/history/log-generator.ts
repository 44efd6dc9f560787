import { sha256 } from '../../../src/encoding/hash.ts'
import type { Descriptor } from '../../../src/model/descriptor.ts'
import type { EventData, EventDraft } from '../../../src/model/events/event.ts'
import { uploadSubject } from '../../../src/model/permission-subject.ts'
import { BlobKey, EventId, SessionId, TurnId } from '../../../src/model/ids.ts'
import { freezeSurface } from '../../../src/prompt/surface.ts'
import type { Surface } from '../../../src/model/surface.ts'
import type { DialectName } from '../providers/dialects.ts'
import { generatedCheckpoint } from './generated-checkpoint.ts'
import { generatedDescriptor } from './generated-descriptor.ts'
import { GeneratedInstructions } from './generated-instructions.ts'
import { generatedBrought, generatedCommand } from './generated-mention.ts'
import { generatedHydration, generatedSkill, hydrationView } from './generated-skill.ts'
import { generatedSurface, REASONING } from './generated-surface.ts'
import { random, type Random } from '../host/random.ts'

/** A generated Log: Events as they would be appended, and the blobs that they name. */
export interface GeneratedLog {
  readonly drafts: readonly EventDraft[]
  readonly ids: readonly EventId[]
  readonly blobs: ReadonlyMap<string, Buffer>
}

/**
 * Generates a random Log with Events of every type, in an order that a harness could produce, for models of `dialect`; with
 * `summaries`, also Turns that only ask for a summary.
 */
export function generateLog(
  seed: number,
  dialect: DialectName = 'rehearsal',
  summaries = false,
): GeneratedLog {
  const generator = new LogGenerator(random(seed), dialect)
  generator.begin()
  const turns = 3 + generator.chance.below(6)
  for (let turn = 0; turn < turns; turn++) {
    generator.turn()
    if (summaries && generator.chance.below(2) === 0) generator.summary()
    generator.between()
  }
  return generator.made
}

export const SAMPLE_SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

class LogGenerator {
  readonly chance: Random
  readonly #drafts: EventDraft[] = []
  readonly #ids: EventId[] = []
  readonly #blobs = new Map<string, Buffer>()
  readonly #resources: Descriptor[] = []
  #turn: TurnId | undefined
  #count = 0
  #calls = 0
  #checkpoints: EventId[] = []
  readonly #named = new GeneratedInstructions()
  readonly #commands: Parameters<typeof generatedCommand>[1] = []
  #surface = 0
  #current: Surface | undefined

  readonly #dialect: DialectName
  readonly #replay: Surface['params']['replay']

  constructor(chance: Random, dialect: DialectName) {
    this.chance = chance
    this.#replay = chance.pick(['attach-turn', 'attach-turn', 'window'])
    this.#dialect = dialect
  }

  get made(): GeneratedLog {
    return { drafts: this.#drafts, ids: this.#ids, blobs: this.#blobs }
  }

  begin(): void {
    const data = {
      workspace: '/w',
      provider: 'rehearsal',
      model: 'rehearsal',
      mode: 'build',
      permission_mode: 'ask',
      presenter: 'test',
      harness_version: '0.1.0',
    } as const
    this.#add({ type: 'session_started', data })
    this.#surfaceEvent('session_start')
  }

  turn(): void {
    this.#turn = TurnId.parse(this.#id('trn'))
    const message_key = `message ${this.#drafts.length}`
    const source = { presenter: 'test', ...(this.#count % 4 === 0 ? {} : { message_key }) }
    this.#add({ type: 'turn_started', data: { source } })
    const known = this.#resources.length
    this.#userMessage()
    if (this.#maybe(0.15)) this.#deny(this.#resources[known])
    if (this.#maybe(0.15)) this.#view('person')
    if (this.#maybe(0.6)) this.#lateContext()
    if (this.#maybe(0.2)) this.#skill()
    // Without an answer, the attachments are carried to the next Turn.
    const answers = this.#maybe(0.15) ? 0 : 1 + this.chance.below(4)
    for (let call = 0; call < answers; call++) this.#call(call, call === answers - 1)
    if (answers === 0) this.#request(0)
    this.#end(
      answers === 0
        ? 'failed'
        : this.chance.pick(['completed', 'completed', 'interrupted'] as const),
    )
    this.#turn = undefined
  }

  summary(): void {
    this.#turn = TurnId.parse(this.#id('trn'))
    const source = { presenter: 'test' }
    this.#add({ type: 'turn_started', data: { source, purpose: 'summary' } })
    const text = this.#text('summarise')
    this.#add({ type: 'user_message', data: { text, prompt_mode: 'string' } })
    const isAnswered = this.#maybe(0.7)
    if (isAnswered) this.#call(0, true)
    else this.#request(0)
    this.#end(isAnswered ? 'completed' : 'interrupted')
    this.#turn = undefined
  }

  between(): void {
    const resource = this.#resources.at(-1 - this.chance.below(2))
    if (this.#drafts.length % 5 === 0) this.#appended()
    if (this.#maybe(0.15)) this.#add({ type: 'text_pinned', data: { text: 'pin', by: 'person' } })
    if (this.#maybe(0.1)) this.#add({ type: 'session_settings', data: { title: 'A title' } })
    if (this.#maybe(0.3) && resource !== undefined) {
      this.#add({
        type: 'resource_dropped',
        data: { resource_id: resource.resource_id, by: 'person' },
      })
    }
    if (this.#maybe(0.1)) this.#filesRestored()
    if (this.#maybe(0.15)) {
      const event_id = EventId.parse(this.#id('evt'))
      this.#add({ type: 'text_unpinned', data: { event_id, text: 'pin', by: 'person' } })
    }
    generatedCommand(this.chance, this.#commands).forEach((one) => this.#add(one))
    if (this.#maybe(0.3)) this.#checkpoint()
    const undone = this.#checkpoints.at(-1)
    if (undone !== undefined && this.#maybe(0.25)) {
      this.#checkpoints.pop()
      this.#add({
        type: 'compaction_undone',
        data: { compaction_event_id: undone, reason: 'test' },
      })
    }
    if (this.#maybe(0.12)) this.#surfaceEvent('reload')
    if (this.#maybe(0.05)) this.#add({ type: 'lock_taken', data: { previous_holder: { pid: 1 } } })
    if (this.#maybe(0.05)) this.#add({ type: 'log_repaired', data: { cut_bytes: 1, kept_as: 'x' } })
  }

  #call(index: number, last: boolean): void {
    this.#request(index)
    if (this.#maybe(0.3)) {
      const item = REASONING[this.#dialect](`${(this.#count += 1)}`)
      const data = { dialect: this.#dialect, model: 'rehearsal', item }
      this.#add({ type: 'reasoning', data })
    }
    const calls = last ? 0 : 1 + this.chance.below(3)
    if (last || this.#maybe(0.5)) {
      this.#add({ type: 'assistant_message', data: { text: this.#text('answer') } })
    }
    const ids = Array.from({ length: calls }, () => `call_${(this.#calls += 1)}`)
    for (const call_id of ids) {
      this.#add({
        type: 'tool_call',
        data: { call_id, name: 'read', arguments: `{"path":"${call_id}"}` },
      })
    }
    this.#usage(index)
    if (calls === 0) return
    if (this.#maybe(0.3))
      this.#decide({ call_id: ids[0] ?? '', subject: 'read', decision: 'allowed' })
    if (this.#maybe(0.3)) this.#view('model')
    if (this.#maybe(0.2)) this.#hydration()
    const finished = ids.toSorted(() => this.chance.next() - 0.5)
    for (const call_id of finished) this.#result(call_id)
    if (this.#maybe(0.15)) this.#lateContext()
    if (this.#maybe(0.2)) this.#plan()
    if (this.#maybe(0.22)) this.#quarantine()
    if (this.#maybe(0.2)) this.#userMessage(true)
    if (this.#maybe(0.1)) this.#add({ type: 'notice', data: { code: 'n', text: 'n' } })
  }

  #request(call_index: number): void {
    const data: EventData<'provider_request'> = {
      call_index,
      attempt: 0,
      dialect: this.#dialect,
      model: 'rehearsal',
      contract_version: 'hw1',
      cache_key: 'hw1',
      request_sha256: sha256(''),
      request_bytes: 0,
      shared_prefix_bytes: 0,
      transport: 'in-process',
    }
    this.#add({ type: 'provider_request', data })
  }

  #usage(call_index: number): void {
    const usage = { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
    const data = {
      call_index,
      usage,
      latency_ms: 1,
      pressure: 'unavailable',
      stop_reason: 'end',
    } as const
    this.#add({ type: 'provider_usage', data })
  }

  #userMessage(steer = false): void {
    const count = steer || this.#maybe(0.5) ? 0 : 1 + this.chance.below(3)
    const resources = Array.from({ length: count }, () => this.#resource())
    const error = { code: 'too_large', name: 'b.png', reason: 'too large' } as const
    this.#add({
      type: 'user_message',
      data: {
        text: this.#text('ask'),
        prompt_mode: count > 0 ? 'blocks' : 'string',
        ...(count > 0 ? { resources } : {}),
        ...(this.#maybe(0.1) ? { attachment_errors: [error] } : {}),
        ...(this.#maybe(0.1) ? { presenter_context: { open: 'a.ts' } } : {}),
        ...(this.#maybe(0.1) ? { piped: this.#text('piped') } : {}),
        ...(steer ? {} : generatedBrought(this.chance, this.#blobs, this.#commands)),
        ...(steer ? { steer } : {}),
      },
    })
  }

  #lateContext(): void {
    const date = `2026-01-${10 + this.chance.below(20)}`
    const { late, texts } = this.#named.next(this.chance, (text) => this.#blob(text, 'md'))
    const where = { workspace: '/w', ...(this.#maybe(0.2) ? { folder: 'a' } : {}) }
    const data = { ...where, mode: 'build', permission_mode: 'ask', date, ...late } as const
    for (const one of [{ type: 'late_context', data } as const, ...texts]) this.#add(one)
  }

  /** Instructions that the person adds; some of them twice. */
  #appended(): void {
    const text = `Rule ${this.#drafts.length % 3}. `.repeat(9)
    const facts = { path: '+', content_sha256: sha256(text), blob: this.#blob(text, 'md') }
    const size = { bytes: text.length, text_bytes: text.length }
    this.#add({ type: 'project_instructions', data: { ...facts, ...size, reason: 'appended' } })
  }

  #result(call_id: string): void {
    const outcome = this.chance.pick(['ok', 'ok', 'failed', 'denied', 'unknown'] as const)
    const output = this.#text('result').repeat(this.#maybe(0.4) ? 150 : 1)
    this.#add({
      type: 'tool_result',
      data: { call_id, name: 'read', outcome, output, duration_ms: 1 },
    })
  }

  #plan(): void {
    const content = this.#text('task')
    const status = this.chance.pick(['pending', 'in_progress', 'completed'] as const)
    this.#add({ type: 'plan_updated', data: { entries: [{ content, status }] } })
  }

  #decide(what: Pick<EventData<'permission_decision'>, 'call_id' | 'subject' | 'decision'>): void {
    const rest = { args_sha256: sha256(''), mode: 'ask', scope: 'once', by: 'person' } as const
    this.#add({ type: 'permission_decision', data: { ...what, ...rest } })
  }

  #resource(): Descriptor {
    const n = this.#resources.length + 1
    const kind = this.chance.pick(['image', 'image', 'pdf', 'text', 'link', 'file'] as const)
    const resource_id = this.#id('res')
    const blob = this.#blob(`bytes of resource ${n}`, 'png')
    const descriptor = generatedDescriptor({ kind, n, resource_id, blob })
    this.#resources.push(descriptor)
    return descriptor
  }

  /** Denies the upload of a Resource that was not shown yet. */
  #deny(resource: Descriptor | undefined): void {
    if (resource === undefined) return
    this.#decide({ subject: uploadSubject(resource.resource_id), decision: 'denied' })
  }

  #view(by: 'model' | 'person'): void {
    const seen = this.#resources.filter(({ kind }) => kind === 'image')
    if (seen.length === 0) return
    const { resource_id, handle } = this.chance.pick(seen)
    const outcome = this.chance.pick(['projected', 'projected', 'missing', 'denied'] as const)
    const part = this.#maybe(0.5) ? {} : { variant: this.#blob(`view ${this.#count}`, 'png') }
    this.#add({ type: 'resource_view', data: { resource_id, handle, by, ...part, outcome } })
  }

  #quarantine(): void {
    if (this.#resources.length === 0) return
    const { resource_id } = this.chance.pick(this.#resources)
    const provider_error = { message: 'no' }
    if (this.#maybe(0.55)) {
      const why = this.chance.pick([
        'cost',
        'payload_missing',
        'payload_damaged',
        'payload_missing',
      ])
      this.#add({ type: 'resource_retired', data: { resource_id, why } })
    } else {
      this.#add({
        type: 'resource_quarantined',
        data: { resource_id, dialect: this.#dialect, provider_error },
      })
    }
  }

  #skill(): void {
    const blob = this.#blob(`# Skill ${this.#count}`, 'md')
    this.#add(generatedSkill(blob, this.#count % 2 === 0))
    if (this.#maybe(0.6)) this.#hydration()
  }

  /** Also without output, with the characters of its fence, failed, cut, and of a Resource. */
  #hydration(): void {
    const text = this.#text('hydrated')
    const variety = this.#count % 6
    const output = variety === 0 ? '' : variety === 1 ? `${text}\n\`\`\`\`\n` : text
    const activation = this.#ids[0] ?? EventId.parse(this.#id('evt'))
    const cut = variety === 2 ? '@txt9' : undefined
    this.#add(generatedHydration(activation, output, { failed: variety === 3, cut }))
    const image = this.#resources.find(({ kind }) => kind === 'image')
    if (variety === 0 && image !== undefined) this.#add(hydrationView(image))
  }

  #filesRestored(): void {
    const undone_turn_id = TurnId.parse(this.#id('trn'))
    const files = [{ path: 'a', outcome: 'restored' as const }]
    this.#add({ type: 'files_restored', data: { undone_turn_id, files, by: 'person' } })
  }

  /** A compaction by hand, if the planner finds one. */
  #checkpoint(): void {
    const data = generatedCheckpoint(this.made, this.#current, this.chance)
    if (data === undefined) return
    this.#add({ type: 'history_compaction', data })
    const id = this.#ids.at(-1)
    if (id !== undefined) this.#checkpoints.push(id)
  }

  /** A reload changes the toolset, and sometimes the parameters or the model. */
  #surfaceEvent(reason: 'session_start' | 'reload'): void {
    if (reason === 'reload') this.#surface += 1
    const variation = this.chance.below(4)
    const frozen = freezeSurface(generatedSurface(this.#surface, variation, this.#replay))
    this.#current = frozen.surface
    const blob = this.#blob(frozen.bytes.toString('utf8'), 'json')
    const { layer0_sha256, layer1_sha256, toolset_sha256, skills_sha256, surface } = frozen
    const hashes = { layer0_sha256, layer1_sha256, toolset_sha256, skills_sha256 }
    const { contract_version, params } = surface
    this.#add({
      type: 'prompt_surface',
      data: { contract_version, ...hashes, blob, params, reason },
    })
  }

  #end(status: 'completed' | 'interrupted' | 'failed'): void {
    const none = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0 }
    const usage_total = { ...none, calls: 0 }
    const error =
      status === 'failed' ? { error: { kind: 'network', message: 'gone' } as const } : {}
    this.#add({ type: 'turn_ended', data: { status, ...error, usage_total } })
  }

  #add(draft: EventDraft): void {
    this.#ids.push(EventId.parse(this.#id('evt')))
    this.#drafts.push(this.#turn === undefined ? draft : { ...draft, turn_id: this.#turn })
  }

  #maybe(share: number): boolean {
    return this.chance.next() < share
  }

  #text(what: string): string {
    return `${what} ${(this.#count += 1)} `.repeat(1 + this.chance.below(4))
  }

  #blob(text: string, extension: string): BlobKey {
    const bytes = Buffer.from(text)
    const key = BlobKey.parse(`${sha256(bytes)}.${extension}`)
    this.#blobs.set(key, bytes)
    return key
  }

  #id<P extends string>(prefix: P): `${P}_${string}` {
    const letters = '0123456789abcdefghjkmnpqrstvwxyz'
    const tail = Array.from({ length: 20 }, () => letters.charAt(this.chance.below(32))).join('')
    return `${prefix}_01kg8m${tail}`
  }
}
