import type { Context, Reading } from './call.ts'
import { asTyped, literalsIn } from './literals.ts'
import { phrase } from './phrase.ts'

/** "`npm test`", "the command ls -la", "git status": a call of bash for each command. */
export function run(words: string, context: Context): Reading | undefined {
  const quoted = QUOTED.exec(words)
  if (quoted !== null) {
    const commands = literalsIn(quoted[1] ?? '', context.literals).map(({ text }) => text.trim())
    return commandsRun(commands)
  }
  const bare = words.replace(phrase`^(?:the )?(?:shell )?command:? `, '')
  // Words that describe a command, such as "the tests", are not one.
  if (bare === '' || DESCRIBES.test(bare) || phrase`^{TEXT}|{CODE}`.test(bare)) return undefined
  return commandsRun([asTyped(bare, context.literals).trim()])
}

const QUOTED = phrase`
  ^(?:(?:this|{THE}(?:(?:shell|following) )?(?:commands?|script))(?: in the shell)?:? )?
  ({TEXT}(?:(?:,? and |, ?){TEXT})*)$`
const DESCRIBES = phrase`
  ^(?:(?:the|an?|this|that|these|those|my|our|your|its?|them|some|any|all|every|each|both|anything
  |everything|something|nothing|not|again|me|on|in|into|out|through|away|for|to|with|from|as|of|is
  |are|was|has|i|you|we|they|there|fast|faster)(?!\w)|(?:tests?|commands?|scripts?|code)$)`

function commandsRun(commands: readonly string[]): Reading | undefined {
  const given = commands.filter((command) => command !== '')
  if (given.length === 0) return undefined
  return { calls: given.map((command) => ({ name: 'bash', arguments: { command } })) }
}
