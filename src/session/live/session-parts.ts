import type { BlobStore } from '../../blobs/store.ts'
import type { SweepOptions } from '../../blobs/sweep.ts'
import type { TierLimits } from '../../context/pressure.ts'
import type { OpenBuffers } from '../../host/files/buffered-files.ts'
import type { ConfinedFiles } from '../../host/files/confined-files.ts'
import type { RawSource } from '../../host/files/raw-source.ts'
import type { RuleStore } from '../../host/permission-rules.ts'
import type { Sandbox } from '../../host/sandbox/sandbox.ts'
import type { Snapshots } from '../../host/snapshots/snapshots.ts'
import type { LogPlace } from '../../log/place.ts'
import type { Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import type {
  EventPage,
  HistoryFindings,
  HistorySearch,
  PageRange,
} from '../../model/events/event-search.ts'
import type { CompactionPolicy, CompactionSummary } from '../../model/modes.ts'
import type { InstanceId, SessionId } from '../../model/ids.ts'
import type { Rule } from '../../model/rule.ts'
import type { ModelRow } from '../../model/model-facts.ts'
import type { UploadRules } from '../../policy/upload.ts'
import type { VariantMaker } from '../../resources/variants/variant-maker.ts'
import type { Dialect, Provider } from '../../providers/provider.ts'
import type { InstructionParts } from '../../turn/parts/instruction-parts.ts'
import type { AnswerLimits } from '../../turn/parts/answer-places.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'
import type { SurfaceParts } from '../surface/surface-parts.ts'

/** The dependencies that all Sessions of one workspace share, grouped by subject. The composition root builds them. */
export interface SessionParts {
  readonly workspace: {
    /** Absolute, as shown to people and the model. */
    readonly path: string
    /** Which folder it is: commands run in no other, however long the Session is open. Default: see `Confinement`. */
    readonly identity?: FolderIdentity | undefined
    /**
     * The current folder of the person, relative to the workspace; empty or absent at its root. Commands start there.
     */
    readonly folder?: string | undefined
    /** `$HAWSER_HOME`. */
    readonly home: string
    /** The path of another workspace that has this Session; `undefined` if none is known. */
    readonly whereIs?: ((session: SessionId) => Promise<string | undefined>) | undefined
    /** The Instance whose records in this workspace contain this Session; `undefined` if none do. */
    readonly instanceOf?: ((session: SessionId) => Promise<InstanceId | undefined>) | undefined
  }
  /** Where Events and blobs are stored. */
  readonly log: {
    readonly place: LogPlace
    readonly store: BlobStore
    /** Opens what may mention blobs of the workspace outside of it. It is closed after use. Default: none. */
    readonly mentions?: (() => Promise<Result<OpenMentions>>) | undefined
    /** Opens the records of the Instances in this workspace, which are swept with it. Default: none. */
    readonly records?: (() => Promise<Result<OpenRecords>>) | undefined
    /**
     * Keys that this process uses. They are redacted in everything that is stored or shown, except in original
     * attachments.
     */
    readonly secrets: readonly string[]
    /** The Hawser version that new Sessions record. */
    readonly version: string
  }
  /** Providers, and everything that affects requests to them. */
  readonly model: SurfaceParts['model'] & {
    /** The catalogued models of a provider; default: none. */
    readonly modelsOf?: ((provider: string) => readonly ModelRow[]) | undefined
    /** A configured provider, by the name that a person uses. */
    readonly providerOf: (name: string) => Promise<Result<Provider>>
    /** The encoder of a dialect, by the name that Events use. Needs no key. */
    readonly dialectOf: (name: string) => Promise<Result<Dialect>>
    readonly limits: { readonly retries: number }
    /** A random number from 0 to 1. */
    readonly chance: () => number
    /** What happens when the window of the model fills. */
    readonly pressure?: PressureSettings | undefined
    /** How the summary of a checkpoint is written. Default: from excerpts. */
    readonly summary?: CompactionSummary | undefined
    /** Creates variants of blobs. Default: with the libraries installed on this machine. */
    readonly variants?: VariantMaker | undefined
  }
  /** The tools, and what their calls may access. */
  readonly tools: SurfaceParts['tools'] & {
    readonly toolset: TurnParts['tools']['toolset']
    readonly files: ConfinedFiles
    /** The files that a client of a Session has open; `undefined` if it does not show them. */
    readonly buffers?: ((session: SessionId) => OpenBuffers | undefined) | undefined
    /** The project instructions; default: none are named. */
    readonly instructions?: InstructionParts | undefined
    readonly sandbox: Sandbox
    /** Snapshots of the workspace, loaded with the first command. Default: none are taken. */
    readonly snapshots?: (() => Promise<Snapshots>) | undefined
    readonly protectedPaths: readonly string[]
    /** Paths outside the workspace that commands may read, from the person's settings. */
    readonly readable?: readonly string[] | undefined
    /** In a guest; see `Confinement.ofGuest`. */
    readonly ofGuest?: boolean
    readonly limits: { readonly command_ms: number }
    /** Searches Logs for the model; loaded with the first search. */
    readonly history: () => Promise<HistoryQueries>
  }
  /** The person, and what they allow. */
  readonly person: {
    /** The name of the presenter. */
    readonly presenter: string
    /** The person's rules for this workspace. Without it there are no rules, and none can be stored. */
    readonly rules?: RuleStore | undefined
    /** The person's rules for single Sessions. Default: they end when the workspace is closed. */
    readonly grants?: SessionGrants | undefined
    /** The person's rules for uploads to a model. Default: allow. */
    readonly upload?: UploadRules | undefined
    /** What answers may contain besides text. Default: any file that can be attached. */
    readonly answers?: AnswerLimits | undefined
    readonly limits: {
      readonly waiting_turns: number
      /** How long a question waits for a client that can answer to come back; 0 if none can. */
      readonly question_ms: number
    }
  }
}

/** What the person set about the window of a model. */
export interface PressureSettings {
  /** Where the tiers begin; default: `TIER_PERCENT`. */
  readonly limits?: TierLimits | undefined
  /** With `auto`, a Session is compacted between Turns from recorded warning on. Default: `manual`. */
  readonly policy?: CompactionPolicy | undefined
}

/** Rules that last as long as a process, by Session. */
export type SessionGrants = Map<SessionId, Rule[]>

/** What a search by the model needs. */
export interface HistoryParts {
  readonly log: Pick<SessionParts['log'], 'place' | 'store' | 'secrets'>
  readonly session: SessionId
  /** The number of Turns in the Log. */
  readonly turns: number
  readonly signal: AbortSignal
}

/** Reads the Log of a Session for its model. */
export interface HistoryQueries {
  readonly searchHistory: (
    parts: HistoryParts,
    search: HistorySearch,
  ) => Promise<Result<HistoryFindings>>
  readonly readEvent: (
    parts: HistoryParts,
    seq: number,
    range: PageRange,
  ) => Promise<Result<EventPage>>
}

/** What may mention blobs. */
export interface OpenMentions {
  readonly sources: readonly RawSource[]
  close(): Promise<void>
}

/** The records of Instances. A guest may have put anything there, so each can fail alone. */
export interface OpenRecords {
  readonly stores: readonly { readonly instance: InstanceId; readonly store: Result<OpenStore> }[]
  close(): Promise<void>
}

/** What a sweep of the blobs of one Instance needs. */
export interface OpenStore extends Pick<SweepOptions, 'mentions' | 'writing' | 'tidy'> {
  readonly blobs: BlobStore
}
