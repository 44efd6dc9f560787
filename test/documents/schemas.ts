import * as z from 'zod'
import { ErrorBody } from '../../src/model/error-shape.ts'
import { Settings } from '../../src/model/settings.ts'
import { COMMANDS } from '../../src/presenters/cli/command-table.ts'
import type { Command } from '../../src/presenters/cli/world/command.ts'

/** A JSON schema and the name of its file, without the ending. */
export interface Published {
  readonly name: string
  readonly schema: object
}

/** What every command answers with `--json`, what a failure looks like everywhere, and what `config.json` may hold. */
export async function schemas(): Promise<Published[]> {
  const commands = await Promise.all(COMMANDS.map(commandSchema))
  return [
    ...commands.flatMap((one) => one ?? []),
    published('error', 'A failure of any command with --json', ErrorBody),
    published('config', 'config.json of Hawser', Settings),
  ]
}

/** As in `log-show`. */
export function schemaName({ name }: Command): string {
  return name.replaceAll(' ', '-')
}

export function answersAsJson({ options }: Command): boolean {
  return options.some(({ flags }) => flags === '--json')
}

async function commandSchema(command: Command): Promise<Published | undefined> {
  if (!answersAsJson(command)) return undefined
  const loaded: object = await command.load()
  if (!('Output' in loaded) || !(loaded.Output instanceof z.ZodType)) {
    throw new Error(
      `the file of hawser ${command.name} does not export Output, the shape of its answer`,
    )
  }
  return published(schemaName(command), `hawser ${command.name} --json`, loaded.Output)
}

function published(name: string, title: string, shape: z.ZodType): Published {
  const { $schema, ...schema } = z.toJSONSchema(shape, {
    unrepresentable: 'any',
    // Fields may be added to an answer, so an object is closed only where the shape itself is strict.
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      if (def.type === 'object' && def.catchall === undefined)
        delete jsonSchema.additionalProperties
    },
  })
  return { name, schema: { $schema, title, ...schema } }
}
