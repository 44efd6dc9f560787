import type { BlobStore } from '../../blobs/store.ts'
import type { PromptContract } from '../../contract/surface.ts'
import type { ConfinedFiles } from '../../host/files/confined-files.ts'
import type { RuleStore } from '../../host/permission-rules.ts'
import type { Sandbox } from '../../host/sandbox/sandbox.ts'
import type { LogPlace } from '../../log/place.ts'
import type { Result } from '../../model/errors.ts'
import type { ModelFacts, ModelRow } from '../../model/model-facts.ts'
import type { SurfaceParams, ToolSchema } from '../../model/surface.ts'
import type { UploadRules } from '../../policy/upload.ts'
import type { VariantMaker } from '../../resources/variants/variant-maker.ts'
import type { Dialect, Provider } from '../../providers/provider.ts'
import type { PermissionAnswer, PermissionQuestion, TurnParts } from '../../turn/turn-parts.ts'

/** What every Session of one workspace shares, by subject; the composition root puts it together. */
export interface SessionParts {
  readonly workspace: {
    /** Absolute, for people and for the model. */
    readonly path: string
    /** Where the person is, relative to the workspace; empty or absent at its root. Commands start there. */
    readonly folder?: string | undefined
    /** `$HAWSER_HOME`. */
    readonly home: string
  }
  /** Where Events and bytes are kept. */
  readonly log: {
    readonly place: LogPlace
    readonly store: BlobStore
    /** Keys that this process uses. They are redacted in all that is stored and shown; attached originals keep theirs. */
    readonly secrets: readonly string[]
    /** Of Hawser, as new Sessions record it. */
    readonly version: string
  }
  /** Who may answer, and all that shapes what is sent there. */
  readonly model: {
    /** What the catalogue knows of a model; `undefined` when it does not know it. */
    readonly factsOf: (provider: string, model: string) => ModelFacts | undefined
    /** The models of a provider that the catalogue knows; none by default. */
    readonly modelsOf?: ((provider: string) => readonly ModelRow[]) | undefined
    /** The dialect that a provider is spoken to in. */
    readonly dialectNameOf: (provider: string) => string
    /** A provider that is configured, by the name a person gives it. */
    readonly providerOf: (name: string) => Promise<Result<Provider>>
    /** How requests are written in a dialect, by the name that Events give it. Needs no key. */
    readonly dialectOf: (name: string) => Promise<Result<Dialect>>
    readonly limits: { readonly provider_calls: number; readonly retries: number }
    /** From 0 to 1. */
    readonly chance: () => number
    /** Of new Sessions; that of this version, unless one is to be compared with it. */
    readonly contract?: PromptContract | undefined
    /** How long new Sessions show attached bytes; on their own Turn by default. */
    readonly replay?: SurfaceParams['replay'] | undefined
    /** How hard models of new Sessions think; by default their own. */
    readonly effort?: string | undefined
    /** Makes other forms of what is stored; with what is installed here by default. */
    readonly variants?: VariantMaker | undefined
  }
  /** What calls may do, and with what. */
  readonly tools: {
    readonly toolset: TurnParts['tools']['toolset']
    readonly schemas: readonly ToolSchema[]
    readonly files: ConfinedFiles
    readonly sandbox: Sandbox
    readonly protectedPaths: readonly string[]
    /** What commands may read beside the workspace, by the person's settings. */
    readonly readable?: readonly string[] | undefined
    readonly limits: { readonly command_ms: number }
  }
  /** Who asks, and what they allow. */
  readonly person: {
    /** What shows them their Sessions. */
    readonly presenter: string
    /** Asks whoever is there. Without anyone the answer is no, by nobody. */
    readonly ask: (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>
    /** Rules that a person made for this workspace; without it there are none, and none can be kept. */
    readonly rules?: RuleStore | undefined
    /** What they set about bytes that go to a model; nothing stops them by default. */
    readonly upload?: UploadRules | undefined
    readonly limits: { readonly waiting_turns: number }
  }
}
