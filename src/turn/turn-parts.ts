import type { BlobStore } from '../blobs/store.ts'
import type { Clock } from '../host/clock.ts'
import type { Confinement, RecordedPlace } from '../host/sandbox/confinement.ts'
import type { Finding } from '../host/sandbox/watch/watch.ts'
import type { Descriptor, ResourceFacts } from '../model/descriptor.ts'
import type { Result } from '../model/errors.ts'
import type { EphemeralEvent, EventData, EventDraft, WholeEvent } from '../model/events/event.ts'
import type { SessionId, TurnId } from '../model/ids.ts'
import type { ModelFacts } from '../model/model-facts.ts'
import type { Rule } from '../model/rule.ts'
import type { Surface } from '../model/surface.ts'
import type { Decision, Posture } from '../policy/decide.ts'
import type { Claim } from '../policy/claim.ts'
import type { Offer } from '../policy/rules.ts'
import type { UploadRules } from '../policy/upload.ts'
import type { Resolved } from '../resources/resolve-attachments.ts'
import type { VariantMaker } from '../resources/variants/variant-maker.ts'
import type { Provider } from '../providers/provider.ts'
import type { Tool, ToolContext, ToolResources } from '../tools/tool.ts'
import type { SentRequest } from '../request/compose-request.ts'

/** Everything one Turn works with. The Session puts it together; the Turn adds nothing of its own. */
export interface TurnParts {
  readonly session: SessionId
  readonly turn: TurnId
  readonly provider: Provider
  readonly surface: Surface
  /** What the catalogue knows of the model now; what shapes requests is frozen in the surface instead. */
  readonly facts: ModelFacts | undefined
  /** Models of the same provider that are known to have a larger window. */
  readonly larger: readonly { readonly model: string; readonly window_tokens: number }[]
  readonly cacheKey: string
  readonly store: BlobStore
  readonly tools: ReadonlyMap<string, Tool>
  /** What a person set about bytes that go to a model. */
  readonly upload: UploadRules
  readonly variants: VariantMaker
  /** What is still to be recorded before the first request, in this order. */
  readonly opening: {
    /** Handles that the person wrote: each is a view. */
    readonly views: readonly string[]
    readonly late?: EventData<'late_context'> | undefined
  }
  readonly holdsKey: ToolResources['holdsKey']
  /** Judges and stores a file of the workspace as an attachment of the agent's. */
  readonly ingest: (path: string) => Promise<Result<Resolved>>
  /** The next handle; the same one never twice. */
  readonly nameResource: (facts: ResourceFacts) => Result<Descriptor>
  /** All Events of the Session so far, this Turn's included. */
  readonly events: () => readonly WholeEvent[]
  /** Appends Events of this Turn; when it answers, they are durable and everyone who watches was told. */
  readonly commit: (drafts: readonly EventDraft[]) => Promise<Result<void>>
  readonly publish: (event: Watched) => void
  /** Under what a call is decided now. Only a call that runs a program waits for the sandbox to prove itself. */
  readonly posture: (claim: Claim) => Promise<Posture>
  /** Where a workspace-relative path really leads, links resolved; the path itself where that cannot be told. */
  readonly placeOf: (path: string) => Promise<string>
  /** The world for one call, confined as was decided. */
  readonly contextOf: (call: RunningCall) => Omit<ToolContext, 'resources'>
  /** What is new at protected paths since a command began, and a way to move it aside. */
  readonly inspection: {
    readonly since: (places: readonly RecordedPlace[]) => Promise<Result<readonly Finding[]>>
    readonly moveAside: (found: readonly Finding[]) => Promise<Result<readonly string[]>>
  }
  /** Of a path from the workspace: what else git would read because of a write there, with the reason. */
  readonly gitReads: (path: string) => Promise<readonly { path: string; reason: string }[]>
  /** Asks a person, and waits. */
  readonly ask: (question: Question) => Promise<Answer>
  /** Texts that a person sent while this Turn ran; each is taken once. */
  readonly takeSteering: () => readonly string[]
  /** The same for the last time: from here on nothing is taken from a person. */
  readonly endSteering: () => readonly string[]
  /** The last request of the Session, as far as this process knows it. */
  readonly lastRequest: SentRequest | undefined
  readonly limits: { readonly provider_calls: number }
  readonly retry: { readonly retries: number; readonly chance: () => number }
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Live notices without what the Session adds to them. */
export type Watched = EphemeralEvent extends infer E
  ? E extends EphemeralEvent
    ? Pick<E, 'type' | 'data'>
    : never
  : never

export interface RunningCall {
  readonly call_id: string
  readonly decision: Decision
  readonly claim: Claim
  /** Records what is protected before a program of this call starts. */
  readonly watching: NonNullable<Confinement['watching']>
}

export interface Question {
  /** Absent where no call is asked about, but what a person brought. */
  readonly call_id?: string | undefined
  readonly claim: Claim
  /** Of the call, in the model's own words. */
  readonly arguments?: string | undefined
  readonly reason: string
  /** What a yes may cover beyond this call, the narrowest first. */
  readonly offers: readonly Offer[]
  /** What a call that changes a file would do to it, as a unified diff. */
  readonly diff?: string | undefined
}

export interface Answer {
  readonly allowed: boolean
  readonly scope: 'once' | 'session' | 'workspace'
  /** `nobody`: there was no one to ask. */
  readonly by: 'person' | 'timeout' | 'nobody'
  /** What is allowed from now on, with any scope but `once`: an offer of the question, or what it was reworded to. */
  readonly rule?: Rule
  /** Why not, in the person's words. */
  readonly reason?: string
}
