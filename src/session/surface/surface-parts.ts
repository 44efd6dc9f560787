import type { PromptContract } from '../../prompt/surface.ts'
import type { ModelFacts } from '../../model/model-facts.ts'
import type { SurfaceParams, ToolSchema } from '../../model/surface.ts'
import type { DialectName } from '../../providers/provider.ts'
import type { SkillCatalog } from '../../skills/skill.ts'

/** What the surfaces of a workspace are made of. */
export interface SurfaceParts {
  readonly model: {
    /** The catalogue entry of a model; `undefined` if it is unknown. */
    readonly factsOf: (provider: string, model: string) => ModelFacts | undefined
    /** The dialect of a provider; `undefined` if the provider is unknown. */
    readonly dialectNameOf: (provider: string) => DialectName | undefined
    readonly limits: { readonly provider_calls: number }
    /** The contract of new Sessions. Default: that of this version; a comparison passes another. */
    readonly contract?: PromptContract | undefined
    /** How long new Sessions show attached bytes. Default: for their own Turn. */
    readonly replay?: SurfaceParams['replay'] | undefined
    /** The reasoning effort of new Sessions. Default: that of the model. */
    readonly effort?: string | undefined
  }
  readonly tools: {
    readonly schemas: readonly ToolSchema[]
    /** Schemas that a surface has only if there are Skills. */
    readonly skillSchemas: readonly ToolSchema[]
    readonly skills: SkillCatalog
  }
  readonly log: {
    /** Keys, which no surface contains. */
    readonly secrets: readonly string[]
  }
}

/** The model of a surface, by the names that a person uses. */
export interface ModelChoice {
  readonly provider: string
  readonly model: string
  /** The reasoning effort of the Session, if it has its own. */
  readonly effort?: string | undefined
}
