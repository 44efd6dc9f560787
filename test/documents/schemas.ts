import * as z from 'zod'
import { ErrorBody } from '../../src/model/error-shape.ts'
import { Settings } from '../../src/model/settings.ts'
import { COMMANDS } from '../../src/presenters/cli/command-table.ts'
import { JSON_OPTION, type Command } from '../../src/presenters/cli/world/command.ts'

/** A JSON Schema and its file name, without the extension. */
export interface Published {
  readonly name: string
  readonly schema: object
}

/** The `--json` output of every command, the form of a failure, and the schema of `config.json`. */
export async function schemas(): Promise<Published[]> {
  const commands = await Promise.all(COMMANDS.map(commandSchema))
  return [
    ...commands.flatMap((one) => one ?? []),
    published('error', 'A failure of any command with --json', ErrorBody),
    published('config', 'config.json of Hawser', Settings),
  ]
}

/** For example `log-show`. */
export function schemaName({ name }: Command): string {
  return name.replaceAll(' ', '-')
}

export function answersAsJson({ options }: Command): boolean {
  return options.some(({ flags }) => flags === JSON_OPTION.flags)
}

async function commandSchema(command: Command): Promise<Published | undefined> {
  if (!answersAsJson(command)) return undefined
  const loaded: object = await command.shape()
  if (!('Output' in loaded) || !(loaded.Output instanceof z.ZodType)) {
    throw new Error(
      `the file of hawser ${command.name} does not export Output, the schema of its JSON output`,
    )
  }
  return published(schemaName(command), `hawser ${command.name} --json`, loaded.Output)
}

function published(name: string, title: string, shape: z.ZodType): Published {
  const { $schema, ...schema } = z.toJSONSchema(shape, {
    unrepresentable: 'any',
    // Fields may be added to an output, so an object is closed only if its schema is strict.
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      if (def.type === 'object' && def.catchall === undefined)
        delete jsonSchema.additionalProperties
    },
  })
  return { name, schema: { $schema, title, ...schema } }
}
