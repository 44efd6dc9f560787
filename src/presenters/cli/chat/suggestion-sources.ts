import { SessionResources } from '../../../history/session-resources.ts'
import type { Clock } from '../../../host/clock.ts'
import { PermissionMode } from '../../../model/modes.ts'
import { Effort, Theme } from '../../../model/settings.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { Session } from '../../../session/session.ts'
import { OutsideFolder } from '../suggest/outside-folder.ts'
import { FileIndex } from '../suggest/file-index.ts'
import type { NamedSuggestion, SuggestionSources } from '../suggest/suggestions.ts'
import { resourceName } from '../text/resource-words.ts'
import type { ChatActions, ChatSkill } from './commands/command-context.ts'
import { commandSummaries } from './commands/commands.ts'

interface ChatWords {
  readonly actions: ChatActions
  readonly clock: Clock
  readonly session: () => Session
  readonly skills: () => readonly ChatSkill[]
  /** More files or Sessions are known. */
  readonly onChange: () => void
}

/** What a chat can complete. */
export function suggestionSources(parts: ChatWords): SuggestionSources {
  const { actions, clock, session, skills, onChange } = parts
  const { listFiles } = actions
  const usable = () =>
    skills().flatMap(({ name, trust, description }): NamedSuggestion[] =>
      trust === 'untrusted' ? [] : [{ name, about: description }],
    )
  let listed: readonly ListedSession[] = []
  let listedMs = -Infinity
  const sessions = (): readonly NamedSuggestion[] => {
    if (clock.monotonicMs() - listedMs >= STALE_MS) {
      listedMs = Infinity
      void actions.sessions().then((all) => {
        listed = all
        listedMs = clock.monotonicMs()
        onChange()
      })
    }
    return listed
      .filter(({ id }) => id !== session().id)
      .map(({ id, state: { title } }) => ({ name: id, about: title }))
  }
  const { listFolder, describeImage } = actions
  const images = new Map<string, string>()
  return {
    files: listFiles === undefined ? undefined : new FileIndex(listFiles, clock, onChange),
    outside: listFolder === undefined ? undefined : new OutsideFolder(listFolder),
    about: (path, onKnown) => {
      if (!IMAGE.test(path) || describeImage === undefined) return ''
      const known = images.get(path)
      if (known !== undefined) return known
      if (images.size > MOST_IMAGES) images.clear()
      images.set(path, '')
      void describeImage(path).then((text) => {
        images.set(path, text)
        onKnown()
      })
      return ''
    },
    handles: () =>
      new SessionResources(session().events).all.flatMap(
        ({ descriptor, goneBy }): NamedSuggestion[] => {
          const about = resourceName(descriptor)
          return goneBy === undefined ? [{ name: descriptor.handle.slice('@'.length), about }] : []
        },
      ),
    commands: () => {
      const commands = commandSummaries(actions)
      const names = new Set(commands.map(({ name }) => name))
      return [...commands, ...usable().filter(({ name }) => !names.has(name))]
    },
    skills: usable,
    arguments: (command) => {
      const [name = '', ...words] = command.split(' ')
      if (words.at(-1) === '--with') return sourcesOf(skills(), name)
      if (words.length > 0) return secondWords(parts, name, words[0])
      if (name === 'sessions' || name === 'resume') return sessions()
      if (name === 'model') return modelNames(actions, session().state.provider)
      if (name === 'diff' || name === 'undo') return turnsOf(session())
      return ARGUMENTS[name] ?? []
    },
  }
}

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i
const MOST_IMAGES = 500
/** After this time, the Sessions are listed again. */
const STALE_MS = 1_000

const named = (...names: readonly string[]): readonly NamedSuggestion[] =>
  names.map((name) => ({ name, about: '' }))

/** The second word of a command. */
function secondWords(
  { actions }: ChatWords,
  name: string,
  first: string | undefined,
): readonly NamedSuggestion[] {
  return name === 'model' ? modelsOf(actions, first) : []
}

/** The models of the current provider, and the other providers, after which their models follow. */
function modelNames(actions: ChatActions, provider: string): readonly NamedSuggestion[] {
  const all = new Set((actions.models?.() ?? []).map((row) => row.provider))
  all.delete(provider)
  const others = [...all].map((name) => ({ name, about: 'another provider' }))
  return [...modelsOf(actions, provider), ...others]
}

/** The Turns by number, the latest first, with the beginning of their messages. */
function turnsOf({ state, events }: Session): readonly NamedSuggestion[] {
  const starts = events.filter(({ type }) => type === 'turn_started')
  const first = state.turns - starts.length + 1
  const texts = new Map(
    events.flatMap((event) =>
      event.type === 'user_message' && event.data.steer !== true
        ? [[event.turn_id, event.data.text.trim().split('\n')[0] ?? '']]
        : [],
    ),
  )
  return starts
    .map((event, at) => ({ name: String(first + at), about: texts.get(event.turn_id) ?? '' }))
    .toReversed()
}

/** What can follow other commands. */
const ARGUMENTS: Readonly<Record<string, readonly NamedSuggestion[]>> = {
  effort: named(...Effort.options),
  theme: named(...Theme.options),
  permission: named(...PermissionMode.options),
  permissions: named('remove'),
  compact: named('dry-run', 'undo'),
  attach: named('clipboard'),
  skills: named('trust'),
  resources: named('drop'),
  queue: [
    { name: 'edit', about: 'take a message back into the input: edit N' },
    { name: 'move', about: 'move N M' },
    { name: 'remove', about: 'remove N' },
    { name: 'clear', about: 'remove all' },
  ],
  cache: [{ name: 'all', about: 'the figures of every request' }],
  copy: [{ name: 'code', about: 'the last code block of the last answer' }],
  export: [
    { name: 'md', about: 'Markdown, to read' },
    { name: 'html', about: 'one page for a browser' },
    { name: 'json', about: 'every Event, for programs' },
  ],
}

function modelsOf(actions: ChatActions, provider: string | undefined): readonly NamedSuggestion[] {
  return (actions.models?.() ?? []).flatMap((row) =>
    row.provider === provider ? [{ name: row.id, about: row.provider }] : [],
  )
}

/** What a Skill can fetch. */
function sourcesOf(skills: readonly ChatSkill[], name: string): readonly NamedSuggestion[] {
  const found = skills.find((skill) => skill.name === name)
  return (found?.context_sources ?? []).map((source) => ({ name: source.id, about: '' }))
}
