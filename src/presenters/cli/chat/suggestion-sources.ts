import { SessionResources } from '../../../history/session-resources.ts'
import type { Clock } from '../../../host/clock.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { Session } from '../../../session/session.ts'
import { FileIndex } from '../suggest/file-index.ts'
import type { NamedSuggestion, SuggestionSources } from '../suggest/suggestions.ts'
import { resourceName } from '../text/resource-words.ts'
import type { ChatActions, ChatSkill } from './command-context.ts'
import { commandSummaries } from './commands.ts'

interface ChatWords {
  readonly actions: ChatActions
  readonly clock: Clock
  readonly session: () => Session
  readonly skills: () => readonly ChatSkill[]
  /** More files or Sessions are known. */
  readonly changed: () => void
}

/** What a chat can complete. */
export function suggestionSources(words: ChatWords): SuggestionSources {
  const { actions, clock, session, skills, changed } = words
  const { listFiles } = actions
  const usable = () =>
    skills().flatMap(({ name, trust, description }): NamedSuggestion[] =>
      trust === 'untrusted' ? [] : [{ name, about: description }],
    )
  let listed: readonly ListedSession[] | undefined
  const sessions = (): readonly NamedSuggestion[] => {
    if (listed === undefined) {
      listed = []
      // Listed once: the command itself lists them again.
      void actions.sessions().then((all) => {
        listed = all
        changed()
      })
    }
    return listed
      .filter(({ id }) => id !== session().id)
      .map(({ id, state: { title } }) => ({ name: id, about: title }))
  }
  return {
    files: listFiles === undefined ? undefined : new FileIndex(listFiles, clock, changed),
    handles: () =>
      new SessionResources(session().events).all.flatMap(
        ({ descriptor, gone }): NamedSuggestion[] => {
          const about = resourceName(descriptor)
          return gone === undefined ? [{ name: descriptor.handle.slice('@'.length), about }] : []
        },
      ),
    commands: () => {
      const commands = commandSummaries(actions)
      const names = new Set(commands.map(({ name }) => name))
      return [...commands, ...usable().filter(({ name }) => !names.has(name))]
    },
    skills: usable,
    sessions,
  }
}
