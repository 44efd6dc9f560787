import { sha256 } from '../../encoding/hash.ts'
import { canonicalJson, isJsonObject, parseJson } from '../../encoding/json.ts'
import type { EventType, WholeEvent } from '../../model/events/event.ts'
import { CacheReport, type ExplainedRequest } from '../queries/cache-report.ts'
import type { ProbeFile } from './script.ts'

/** The recorded facts that can affect the cache. */
export const RECORDED_FACTS = [
  'provider',
  'model',
  'dialect',
  'transport',
  'contract_version',
  'layer0_sha256',
  'layer1_sha256',
  'toolset_sha256',
  'skills_sha256',
  'params_sha256',
  'mode',
  'permission_mode',
  'harness_version',
  'prompts_sha256',
] as const

export type RecordedFact = (typeof RECORDED_FACTS)[number]

/** The values of each fact in a Session, in order; one value unless it changed. */
export type RecordedFacts = ReadonlyMap<RecordedFact, readonly string[]>

/** Whether the calls that read files reached the intended workspace. */
export interface ReadScore {
  /** Files that the prompts ask for. */
  readonly expected: number
  /** How many of them were read with the expected content. */
  readonly right: number
  /** Calls that left the workspace, all of which were refused. */
  readonly outside: number
}

/** The evidence of one Session for a comparison. */
export interface SessionEvidence {
  readonly facts: RecordedFacts
  readonly requests: readonly ExplainedRequest[]
  readonly reads: ReadScore
}

/** Where the Session ran, and the files it should find there. */
export interface ExpectedRun {
  readonly workspace: string
  readonly files: readonly ProbeFile[]
}

/** Event types that a comparison needs. */
export const EVIDENCE_EVENTS: readonly EventType[] = [
  'session_started',
  'prompt_surface',
  'turn_started',
  'user_message',
  'provider_request',
  'provider_usage',
  'tool_call',
  'tool_result',
]

/** Collects the evidence of a Session from its Events, in order. */
export class RunEvidence {
  readonly #expected: ExpectedRun
  readonly #report = new CacheReport()
  readonly #requests: ExplainedRequest[] = []
  readonly #facts = new Map<RecordedFact, Set<string>>()
  readonly #prompts: string[] = []
  /** The path that each call reads. */
  readonly #reading = new Map<string, string>()
  readonly #right = new Set<string>()
  #outside = 0

  constructor(expected: ExpectedRun) {
    this.#expected = expected
  }

  take(event: WholeEvent): void {
    this.#keep(this.#report.take(event))
    if (event.type === 'session_started') {
      const { provider, model, mode, permission_mode, harness_version } = event.data
      this.#note({ provider, model, mode, permission_mode, harness_version })
    } else if (event.type === 'prompt_surface') {
      const { layer0_sha256, layer1_sha256, toolset_sha256, skills_sha256, params } = event.data
      const params_sha256 = sha256(canonicalJson(params))
      this.#note({ layer0_sha256, layer1_sha256, toolset_sha256, skills_sha256, params_sha256 })
    } else if (event.type === 'provider_request') {
      const { model, dialect, transport, contract_version } = event.data
      this.#note({ model, dialect, transport, contract_version })
    } else if (event.type === 'user_message') {
      this.#prompts.push(event.data.text)
    } else if (event.type === 'tool_call') {
      this.#noteCall(event.data)
    } else if (event.type === 'tool_result') {
      this.#came(event.data)
    }
  }

  get evidence(): SessionEvidence {
    this.#keep(this.#report.end())
    this.#facts.set('prompts_sha256', new Set([sha256(canonicalJson(this.#prompts))]))
    return {
      facts: new Map([...this.#facts].map(([fact, values]) => [fact, [...values]])),
      requests: this.#requests,
      reads: {
        expected: this.#expected.files.length,
        right: this.#right.size,
        outside: this.#outside,
      },
    }
  }

  #keep(request: ExplainedRequest | undefined): void {
    if (request !== undefined) this.#requests.push(request)
  }

  #note(facts: Partial<Record<RecordedFact, string>>): void {
    for (const fact of RECORDED_FACTS) {
      const value = facts[fact]
      if (value !== undefined)
        this.#facts.set(fact, (this.#facts.get(fact) ?? new Set()).add(value))
    }
  }

  #noteCall({ call_id, name, arguments: text }: WholeEvent<'tool_call'>['data']): void {
    const args = name === 'read' ? parseJson(text) : undefined
    const path = isJsonObject(args) ? args['path'] : undefined
    this.#reading.set(call_id, typeof path === 'string' ? path : '')
  }

  #came({ call_id, outcome, output, error }: WholeEvent<'tool_result'>['data']): void {
    if (error?.kind === 'outside_workspace') this.#outside += 1
    const path = this.#reading.get(call_id)
    const file = this.#expected.files.find((one) => one.path === this.#fromWorkspace(path ?? ''))
    if (file !== undefined && outcome === 'ok' && output.includes(file.mark)) {
      this.#right.add(file.path)
    }
  }

  #fromWorkspace(path: string): string {
    const { workspace } = this.#expected
    const relative = path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
    return relative.replace(/^(?:\.\/)+/, '')
  }
}
