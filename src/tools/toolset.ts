import * as z from 'zod'
import { canonicalJson, isJsonObject, parseJson } from '../encoding/json.ts'
import type { ToolSchema } from '../model/surface.ts'
import { attach } from './attach.ts'
import { bash } from './bash.ts'
import { edit } from './edit.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { historySearch } from './history-search.ts'
import { hydrateContext } from './hydrate-context.ts'
import { read } from './read.ts'
import { resourceView } from './resource-view.ts'
import { skillView } from './skill-view.ts'
import type { Tool, Toolset } from './tool.ts'
import { updatePlan } from './update-plan.ts'
import { write } from './write.ts'

/** The built-in tools that every surface has, sorted by name. */
export const TOOLSET: readonly Tool[] = [
  attach,
  bash,
  edit,
  glob,
  grep,
  historySearch,
  read,
  resourceView,
  updatePlan,
  write,
]

/** The tools that a surface has only if there are Skills. */
export const SKILL_TOOLS: readonly Tool[] = [hydrateContext, skillView]

/** All built-in tools: a frozen surface may still name those for Skills when there are none. */
export function toolset(): Toolset {
  return new Map([...TOOLSET, ...SKILL_TOOLS].map((tool) => [tool.name, tool]))
}

/** The schemas that a surface freezes: the same tools give the same bytes on every machine and in every run. */
export function toolSchemas(tools: readonly Tool[]): ToolSchema[] {
  return tools
    .map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: schemaOf(parameters),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function schemaOf(parameters: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, {
    io: 'input',
    override: ({ jsonSchema, path }) => {
      // zod adds this bound to every integer; it means nothing to a model.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // A model rarely breaks these and pays for them in every Session; the parser explains them to one that does.
      if ((jsonSchema.minimum ?? Infinity) <= 1) delete jsonSchema.minimum
      delete jsonSchema.minLength
      delete jsonSchema.maxLength
      delete jsonSchema.propertyNames
      if (path.length > 0) delete jsonSchema.additionalProperties
    },
  })
  const sorted = parseJson(canonicalJson(schema))
  if (!isJsonObject(sorted)) throw new Error('the schema of parameters must be an object')
  return sorted
}
