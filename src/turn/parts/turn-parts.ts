import type { BlobStore } from '../../blobs/store.ts'
import type { LogPosition } from '../../context/compaction-draft.ts'
import type { TierLimits } from '../../context/pressure.ts'
import type { Redactor } from '../../encoding/redaction.ts'
import type { Clock } from '../../host/clock.ts'
import type { Confinement, RecordedPlace } from '../../host/sandbox/confinement.ts'
import type { ProtectedChange } from '../../host/sandbox/watch/watch.ts'
import type { Result } from '../../model/errors.ts'
import type { EphemeralEvent, WholeEvent } from '../../model/events/event.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import type { ModelFacts } from '../../model/model-facts.ts'
import type { Surface } from '../../model/surface.ts'
import type { Decision, Posture } from '../../policy/decide.ts'
import type { Claim } from '../../policy/claim.ts'
import type { UploadRules } from '../../policy/upload.ts'
import type { ResolvedAttachment } from '../../resources/resolve-attachments.ts'
import type { VariantMaker } from '../../resources/variants/variant-maker.ts'
import type { Provider } from '../../providers/provider.ts'
import type { SkillCatalog } from '../../skills/skill.ts'
import type { ToolContext, ToolResources, Toolset } from '../../tools/tool.ts'
import type { SentRequest } from '../../request/sent-request.ts'
import type { AroundCommand } from './around-command.ts'
import type { InstructionParts } from './instruction-parts.ts'
import type { InterruptedCall } from './interrupted-call.ts'
import type { Commit, PendingResults } from './pending-results.ts'
import type { ResourceNames } from './resource-names.ts'
import type { Steering } from './steering.ts'
import type { PermissionAnswer, PermissionQuestion } from './permission.ts'

/** The dependencies of one Turn, grouped by subject. The Session builds them; each function accepts only the groups it needs. */
export interface TurnParts {
  /** The recorded Events, and how to record more. */
  readonly log: {
    readonly session: SessionId
    readonly turn: TurnId
    /** All Events of the Session so far, including those of this Turn. */
    readonly events: () => readonly WholeEvent[]
    /** Appends Events of this Turn, after the `results` that wait. */
    readonly commit: Commit
    readonly results: PendingResults
    /** The text as it will be in an Event that contains it. */
    readonly recordedText: (text: string) => string
    readonly publish: (event: TurnNotice) => void
    readonly store: BlobStore
    readonly names: ResourceNames
    /** Finds any Resource of the Session by its handle. */
    readonly resourceNamed: ToolResources['find']
    /** The position in the Log of an Event that starts a Turn. */
    readonly positionOf: (seq: number) => LogPosition | undefined
    readonly clock: Clock
  }
  /** The model, and everything that affects requests to it. */
  readonly model: {
    readonly provider: Provider
    readonly providerName: string
    readonly surface: Surface
    /** The hash of the prompt texts, as recorded with the surface. */
    readonly words?: string | undefined
    /** The current catalogue entry of the model; what affects requests is frozen in the surface. */
    readonly facts: ModelFacts | undefined
    /** Models of the same provider with a larger window, as far as known. */
    readonly larger: readonly { readonly model: string; readonly window_tokens: number }[]
    readonly cacheKey: string
    readonly variants: VariantMaker
    readonly holdsKey: ToolResources['holdsKey']
    /** The request that the first one of this Turn is compared with: the last one to the same model, or else the last of all. */
    readonly lastRequest: SentRequest | undefined
    /** The call with which a continued Turn resumes, and the request that its first one was compared with. */
    readonly interruptedCall?: InterruptedCall & { readonly before: SentRequest | undefined }
    readonly limits: { readonly provider_calls: number }
    readonly retry: { readonly retries: number; readonly chance: () => number }
  }
  /** How full the window of the model may become. */
  readonly context: {
    readonly limits: TierLimits
    /** The conversation is not compacted in this Turn: it asks for the summary of a compaction. */
    readonly withoutCompaction: boolean
  }
  /** The tools, and what their calls may access. */
  readonly tools: {
    /** Called when a model calls a tool: until then, tools need not be loaded. */
    readonly toolset: () => Promise<Toolset>
    /** The modes and rules that apply to a call now. Only a call that runs a program waits for the sandbox check. */
    readonly posture: (claim: Claim) => Promise<Posture>
    /** The real location of a workspace-relative path, with links resolved; the path itself if unknown. */
    readonly realPathOf: (path: string) => Promise<string>
    /** Other files that git would read because of a write to this workspace-relative path, with the reason. */
    readonly gitReads: (path: string) => Promise<readonly { path: string; reason: string }[]>
    /** The context of one call, confined as decided. */
    readonly contextOf: (call: RunningCall) => Omit<ToolContext, 'resources' | 'skills'>
    /** New files at protected paths since a command started, and a way to move them aside. */
    readonly inspection: {
      readonly since: (
        places: readonly RecordedPlace[],
      ) => Promise<Result<readonly ProtectedChange[]>>
      readonly moveAside: (found: readonly ProtectedChange[]) => Promise<Result<readonly string[]>>
    }
    /** The snapshots around a command that can write; absent if none are taken. */
    readonly snapshots?: ((call_id: string) => Promise<AroundCommand>) | undefined
    /** Takes the second snapshot of each command that was killed together with Hawser. */
    readonly settleSnapshots?: (() => Promise<Result<void>>) | undefined
    /** Absent where nothing can be prepared. */
    readonly ahead?: CommandsAhead
    /** The project instructions on disk now, and the folder of the person; absent if none are named. */
    readonly instructions?: TurnInstructions | undefined
    /** The Skills on disk now. */
    readonly skills: SkillCatalog
    /** Checks and stores a file of the workspace as an attachment of the agent. */
    readonly ingest: (path: string) => Promise<Result<ResolvedAttachment>>
    /** Counts the files of this Turn's answer. */
    readonly attachable: ToolResources['attachable']
  }
  /** The person whose Turn it is. */
  readonly person: {
    /**
     * Records the question and waits for the answer. The caller records the decision, whatever the answer is. An
     * interrupt is an answer too.
     */
    readonly ask: (question: PermissionQuestion) => Promise<Result<PermissionAnswer>>
    readonly steering: Steering
    /** The person's rules for uploads to a model. */
    readonly upload: UploadRules
    /** Aborts when the person interrupts the Turn. */
    readonly signal: AbortSignal
  }
}

/** Prepares commands while the model answers. */
export interface CommandsAhead {
  /** A request is being answered. */
  answering(): void
  /** The answer calls a tool. */
  onCall(name: string): void
  /** No further command follows. Resolves when nothing that was prepared is left. */
  end(): Promise<void>
}

export interface TurnInstructions extends InstructionParts {
  readonly redactor: Redactor
  /** Relative to the workspace; empty at its root. */
  readonly folder: string
}

/** Live notices without the fields that the Session adds. */
export type TurnNotice = EphemeralEvent extends infer E
  ? E extends EphemeralEvent
    ? Pick<E, 'type' | 'data'>
    : never
  : never

export interface RunningCall {
  readonly call_id: string
  readonly decision: Decision
  readonly claim: Claim
  /** Records protected paths before a program of this call starts. */
  readonly watching: NonNullable<Confinement['watching']>
}
