import type { RuleStore } from '../../host/permission-rules.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { Rule, ScopedRule } from '../../model/rule.ts'
import type { PermissionAnswer } from '../../turn/parts/permission.ts'

/** The rules that apply to calls of one Session: its own, and those of its workspace. */
export class SessionRules {
  readonly #store: RuleStore | undefined
  /** Shared with every client that opens the Session later in this process. */
  readonly #own: Rule[]

  constructor(store: RuleStore | undefined, own: Rule[]) {
    this.#store = store
    this.#own = own
  }

  /** Read on each call, because another process may have changed them. `undefined` if they cannot be read. */
  async inForce(): Promise<readonly ScopedRule[] | undefined> {
    const listed = await this.list()
    return listed.ok ? listed.value : undefined
  }

  /** Rules of the Session first, each group in the order of creation. */
  async list(): Promise<Result<readonly ScopedRule[]>> {
    const stored = this.#store === undefined ? ok([]) : await this.#store.read()
    if (!stored.ok) return stored
    return ok([
      ...this.#own.map((rule) => ({ rule, scope: 'session' as const })),
      ...stored.value.map(({ rule }) => ({ rule, scope: 'workspace' as const })),
    ])
  }

  /**
   * Stores the rule of an answer that covers more than its call. If storing fails, the rule still applies to the
   * Session.
   */
  async keep(answer: PermissionAnswer): Promise<Result<PermissionAnswer>> {
    const { isAllowed, scope, rule } = answer
    if (!isAllowed || scope === 'once' || rule === undefined)
      return ok({ ...answer, scope: 'once' })
    if (scope === 'session') {
      this.#own.push(rule)
      return ok(answer)
    }
    const saved = await (this.#store?.add(rule) ?? nowhere())
    if (saved.ok) return ok(answer)
    this.#own.push(rule)
    return saved
  }

  /** Removes the rule at this position of `list`, counted from 1, and returns it. */
  async remove(number: number): Promise<Result<ScopedRule>> {
    const listed = await this.list()
    if (!listed.ok) return listed
    const chosen = listed.value[number - 1]
    if (chosen === undefined) return noSuchRule(number)
    if (chosen.scope === 'session') {
      this.#own.splice(this.#own.indexOf(chosen.rule), 1)
      return ok(chosen)
    }
    const removed = await (this.#store?.remove(chosen.rule) ?? ok(false))
    return removed.ok ? ok(chosen) : removed
  }
}

export function noSuchRule(number: number): Result<never> {
  return failed('not_found', `No rule ${number}.`, { number }, [
    { action: 'List the rules.', command: 'hawser permissions' },
  ])
}

function nowhere(): Result<void> {
  return failed('storage_failed', 'Permission rules cannot be stored here.')
}
