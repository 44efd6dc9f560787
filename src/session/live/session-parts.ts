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
import type { Answer, Question, TurnParts } from '../../turn/turn-parts.ts'

/** What every Session of one workspace works with; the composition root puts it together. */
export interface SessionParts {
  /** Absolute path of the workspace, for people and for the model. */
  readonly workspace: string
  /** Where the person is, relative to the workspace; empty or absent at its root. Commands start there. */
  readonly folder?: string | undefined
  /** `$HAWSER_HOME`. */
  readonly home: string
  readonly place: LogPlace
  readonly store: BlobStore
  readonly files: ConfinedFiles
  readonly sandbox: Sandbox
  readonly tools: TurnParts['tools']
  readonly toolSchemas: readonly ToolSchema[]
  readonly protectedPaths: readonly string[]
  /** What commands may read beside the workspace, by the person's settings. */
  readonly readable?: readonly string[] | undefined
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
  /** Asks whoever is there. Without anyone the answer is no, by nobody. */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer>
  /** Rules that a person made for this workspace; without it there are none, and none can be kept. */
  readonly rules?: RuleStore | undefined
  readonly presenter: string
  readonly version: string
  readonly limits: {
    readonly provider_calls: number
    readonly waiting_turns: number
    readonly command_ms: number
    readonly retries: number
  }
  /** From 0 to 1. */
  readonly chance: () => number
  /** Keys that this process uses. They are redacted in all that is stored and shown; attached originals keep theirs. */
  readonly secrets: readonly string[]
  /** Of new Sessions; that of this version, unless one is to be compared with it. */
  readonly contract?: PromptContract | undefined
  /** What a person set about bytes that go to a model; nothing stops them by default. */
  readonly upload?: UploadRules | undefined
  /** How long new Sessions show attached bytes; on their own Turn by default. */
  readonly replay?: SurfaceParams['replay'] | undefined
  /** Makes other forms of what is stored; with what is installed here by default. */
  readonly variants?: VariantMaker | undefined
  /** How hard models of new Sessions think; by default their own. */
  readonly effort?: string | undefined
}
