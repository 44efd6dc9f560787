import * as z from 'zod'
import { quote, shorten } from '../../../encoding/quote.ts'
import { failed } from '../../../model/errors.ts'
import { answer } from '../world/answer.ts'
import type { CommandDefinition, Run } from '../world/command.ts'
import { bashScript } from '../completion/bash.ts'
import { fishScript } from '../completion/fish.ts'
import { entries, groups } from '../completion/vocabulary.ts'
import { SHELLS, type COMPLETIONS } from '../definitions/settings.ts'
import { zshScript } from '../completion/zsh.ts'

export const Output = z.object({
  ok: z.literal(true),
  shell: z.enum(SHELLS),
  script: z.string(),
})

/** Prints a shell script that completes commands, options, values and Sessions. */
export function runWith(commands: readonly CommandDefinition[]): Run<typeof COMPLETIONS> {
  return async (world, { args: [named] }) => {
    const shell = SHELLS.find((one) => one === named)
    if (shell === undefined) {
      const message = `Unknown shell ${quote(shorten(named, 80))}. Expected one of ${SHELLS.join(', ')}.`
      return failed('invalid_args', message, { shells: SHELLS }, [
        { action: 'Pass one of them.', command: 'hawser completions bash' },
      ])
    }
    const script = SCRIPTS[shell](entries(commands), groups(commands))
    return answer(world, { shell, script }, () => script)
  }
}

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], typeof bashScript>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}
