import type { BlobStore } from '../blobs/store.ts'
import type { Clock } from '../host/clock.ts'
import type { Confinement, RecordedPlace } from '../host/sandbox/confinement.ts'
import type { ProtectedChange } from '../host/sandbox/watch/watch.ts'
import type { Result } from '../model/errors.ts'
import type { EphemeralEvent, EventDraft, WholeEvent } from '../model/events/event.ts'
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
import type { ResourceNames } from './resource-names.ts'
import type { Steering } from './steering.ts'

/** What one Turn works with, by subject. The Session puts it together; a function takes the groups that it needs. */
export interface TurnParts {
  /** What happened so far, and how more is recorded. */
  readonly log: {
    readonly session: SessionId
    readonly turn: TurnId
    /** All Events of the Session so far, this Turn's included. */
    readonly events: () => readonly WholeEvent[]
    /** Appends Events of this Turn in one write; when it answers, they are durable and everyone who watches has seen them. */
    readonly commit: (drafts: readonly EventDraft[]) => Promise<Result<void>>
    readonly publish: (event: Watched) => void
    readonly store: BlobStore
    readonly names: ResourceNames
    readonly clock: Clock
  }
  /** Who answers, and all that shapes what is sent there. */
  readonly model: {
    readonly provider: Provider
    readonly surface: Surface
    /** The hash of the sentences that was recorded with the surface. */
    readonly words?: string | undefined
    /** What the catalogue knows of the model now; what shapes requests is frozen in the surface instead. */
    readonly facts: ModelFacts | undefined
    /** Models of the same provider that are known to have a larger window. */
    readonly larger: readonly { readonly model: string; readonly window_tokens: number }[]
    readonly cacheKey: string
    readonly variants: VariantMaker
    readonly holdsKey: ToolResources['holdsKey']
    /** The last request of the Session, as far as this process knows it. */
    readonly lastRequest: SentRequest | undefined
    readonly limits: { readonly provider_calls: number }
    readonly retry: { readonly retries: number; readonly chance: () => number }
  }
  /** What calls may do, and with what. */
  readonly tools: {
    readonly toolset: ReadonlyMap<string, Tool>
    /** Under what a call is decided now. Only a call that runs a program waits for the sandbox to prove itself. */
    readonly posture: (claim: Claim) => Promise<Posture>
    /** Where a workspace-relative path really leads, links resolved; the path itself where that is not known. */
    readonly placeOf: (path: string) => Promise<string>
    /** Of a path from the workspace: what else git would read because of a write there, with the reason. */
    readonly gitReads: (path: string) => Promise<readonly { path: string; reason: string }[]>
    /** The world for one call, confined as was decided. */
    readonly contextOf: (call: RunningCall) => Omit<ToolContext, 'resources'>
    /** What is new at protected paths since a command began, and a way to move it aside. */
    readonly inspection: {
      readonly since: (
        places: readonly RecordedPlace[],
      ) => Promise<Result<readonly ProtectedChange[]>>
      readonly moveAside: (found: readonly ProtectedChange[]) => Promise<Result<readonly string[]>>
    }
    /** Judges and stores a file of the workspace as an attachment of the agent's. */
    readonly ingest: (path: string) => Promise<Result<Resolved>>
  }
  /** Whose Turn it is. */
  readonly person: {
    /** Asks, and waits. */
    readonly ask: (question: PermissionQuestion) => Promise<PermissionAnswer>
    readonly steering: Steering
    /** What they set about bytes that go to a model. */
    readonly upload: UploadRules
    /** Aborts when they interrupt the Turn. */
    readonly signal: AbortSignal
  }
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

export interface PermissionQuestion {
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

export interface PermissionAnswer {
  readonly allowed: boolean
  readonly scope: 'once' | 'session' | 'workspace'
  /** `nobody`: there was no one to ask. */
  readonly by: 'person' | 'timeout' | 'nobody'
  /** What is allowed from now on, with any scope but `once`: an offer of the question, or what it was reworded to. */
  readonly rule?: Rule
  /** Why not, in the person's words. */
  readonly reason?: string
}
