import type { PathFacts } from '../../../host/machine.ts'
import { causeOf, type HawserError, type Result } from '../../../model/errors.ts'
import { generalKey } from '../../../model/settings.ts'
import type { AllStoredSettings } from '../../../session/settings/stored-settings.ts'
import { sourcedSettings } from '../../../session/settings/stored-settings.ts'
import { countOf, shownBytes } from '../../../encoding/amounts.ts'
import { visibleLine } from '../text/visible-text.ts'
import { good, problem, warning, type Check } from './check.ts'

/** A path as shown to a person, and its facts. */
interface Place {
  readonly path: string
  readonly facts: PathFacts
}

/** `opening` is the result of opening it; `facts` are from before that. */
export function homeCheck({ path, facts }: Place, opening: Result<unknown>): Check {
  const shown = visibleLine(path)
  if (!opening.ok) {
    const { message } = opening.error
    const description = {
      text: visibleLine(message),
      plain: `Not usable: ${codeOf(opening.error)}.`,
    }
    return problem('home', description, opening.error.next_actions[0] ?? NAME_A_HOME)
  }
  if (facts.kind !== 'folder') return good('home', `${shown}, created just now`, 'created just now')
  const open = (facts.mode & 0o077) !== 0
  const mode = facts.mode.toString(8).padStart(4, '0')
  const closed = open ? `; it was readable by others (${mode}) until now` : ''
  return good('home', `${shown}, private${closed}`, `private${closed}`)
}

const NAME_A_HOME = { action: 'Set HAWSER_HOME to the absolute path of a folder you own.' }

export function workspaceCheck({ path, facts }: Place): Check {
  const shown = visibleLine(path)
  const bad = (plain: string, action: string) =>
    problem('workspace', { text: `${shown}: ${plain}.`, plain: `${plain}.` }, { action })
  switch (facts.kind) {
    case 'missing':
      return bad('folder not found', 'Change to an existing folder, or pass --workspace.')
    case 'not_folder':
      return bad('not a folder', 'Pass the path of a folder.')
    case 'unreadable':
      return bad(`not accessible (${facts.code})`, 'Check its owner and permissions.')
    case 'folder': {
      if (facts.writable) return good('workspace', `${shown}, writable`, 'writable')
      return bad('not writable, so no Session can start', 'Check its owner and permissions.')
    }
  }
}

const LITTLE_BYTES = 1024 ** 3
const TOO_LITTLE_BYTES = 64 * 1024 ** 2

export function diskCheck(places: readonly Place[]): Check | undefined {
  const free = places.flatMap(({ facts }) => (facts.kind === 'folder' ? [facts.freeBytes] : []))
  if (free.length === 0) return undefined
  const least = Math.min(...free)
  const description = { text: `${shownBytes(least)} free` }
  const next = { action: 'Free some space.', command: 'hawser gc --dry-run' }
  if (least < TOO_LITTLE_BYTES) return problem('disk', description, next)
  return least < LITTLE_BYTES ? warning('disk', description, next) : good('disk', description.text)
}

export function locksCheck(tried: Result<boolean>): Check {
  if (tried.ok && tried.value) return good('locks', 'File locks work here.')
  const why = tried.ok ? 'a new file is already locked' : codeOf(tried.error)
  const description = { text: `File locks do not work here (${why}), so no Log can be written.` }
  return problem('locks', description, { action: 'Use a local file system.' })
}

export function settingsCheck(read: Result<AllStoredSettings>): Check {
  if (!read.ok) {
    const cause = causeOf(read.error)
    const plain =
      cause?.type === 'unknown_settings'
        ? `${countOf(cause.keys.length, 'unknown key')}.`
        : `${codeOf(read.error)}.`
    const action = { action: 'Fix that JSON file by hand, or delete it.' }
    return problem('settings', { text: visibleLine(read.error.message), plain }, action)
  }
  const all = sourcedSettings(read.value)
  const set = all.filter(({ source }) => source !== 'default').length
  const waiting = all.filter(({ untrusted }) => untrusted !== undefined)
  const text = `${countOf(set, 'setting')} set`
  if (waiting.length === 0) return good('settings', text)
  const description = (keys: ReadonlySet<string>) =>
    `${text}; ignoring untrusted workspace settings: ${[...keys].join(', ')}`
  const both = {
    text: description(new Set(waiting.map(({ setting }) => setting.key))),
    plain: description(new Set(waiting.map(({ setting }) => generalKey(setting)))),
  }
  return warning('settings', both, { action: 'Review and trust them.', command: 'hawser trust' })
}

/** A code without user-chosen names, never a sentence. */
function codeOf(error: HawserError): string {
  const cause = causeOf(error)
  return cause?.type === 'system' ? `${error.kind}, ${cause.code}` : error.kind
}
