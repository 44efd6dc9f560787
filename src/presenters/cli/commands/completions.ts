import * as z from 'zod'
import { quoted, shortened } from '../../../encoding/quote.ts'
import { failed } from '../../../model/errors.ts'
import { answer, refuse } from '../world/answer.ts'
import type { Command, CommandInput, Run } from '../world/command.ts'
import { bashScript } from '../completion/bash.ts'
import { fishScript } from '../completion/fish.ts'
import { entries, groups, SHELLS, type Shell } from '../completion/vocabulary.ts'
import { zshScript } from '../completion/zsh.ts'
import type { CliWorld } from '../world/world.ts'

const CompletionsArgs = z.object({
  args: z.tuple([z.string()]),
  options: z.object({ json: z.boolean().default(false) }),
})

export const Output = z.object({
  ok: z.literal(true),
  shell: z.enum(SHELLS),
  script: z.string(),
})

/** Prints a shell script that completes commands, options, values and Sessions. */
export function runWith(commands: readonly Command[]): Run {
  return async (world, commandInput) => print(world, commandInput, commands)
}

async function print(
  world: CliWorld,
  commandInput: CommandInput,
  commands: readonly Command[],
): Promise<number> {
  const {
    args: [named],
    options: { json },
  } = CompletionsArgs.parse(commandInput)
  const shell = SHELLS.find((one) => one === named)
  if (shell === undefined) {
    const message = `Unknown shell ${quoted(shortened(named, 80))}. Expected one of ${SHELLS.join(', ')}.`
    const { error } = failed('invalid_args', message, { shells: SHELLS }, [
      { action: 'Pass one of them.', command: 'hawser completions bash' },
    ])
    return refuse(world, json, error)
  }
  const script = SCRIPTS[shell](entries(commands), groups(commands))
  return answer(world, json, { shell, script }, () => script)
}

const SCRIPTS: Readonly<Record<Shell, typeof bashScript>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}
