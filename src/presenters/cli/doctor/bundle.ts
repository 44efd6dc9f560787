import type { ErrorKind } from '../../../model/errors.ts'
import { generalKey } from '../../../model/settings.ts'
import type { SourcedSetting } from '../../../session/settings/stored-settings.ts'
import { isFreeText, shownValue } from '../input/setting-values.ts'
import type { Check } from './check.ts'

/** What a report is made of. Everything in it is a number, a word of ours, or made by `redacted`. */
export interface BundleParts {
  readonly version: string
  readonly checks: readonly Check[]
  readonly settings: readonly SourcedSetting[]
  /** The latest first. */
  readonly errors: readonly ErrorKind[]
  /** What must not be in it, and what stands there instead. */
  readonly secrets: readonly Secret[]
}

export interface Secret {
  readonly text: string
  readonly instead: string
}

/** A report that is safe to paste: no path of this machine, no prompt, no content, no key, no name that somebody chose. */
export function bundle({ version, checks, settings, errors, secrets }: BundleParts): string {
  const report = [
    `hawser ${version}`,
    '',
    ...checks.map(({ id, status, plain }) => `${status.padEnd(7)}  ${id.padEnd(9)}  ${plain}`),
    '',
    ...settings.map(settingLine),
    '',
    `last errors: ${errors.length === 0 ? 'none' : errors.slice(0, ERRORS).join(', ')}`,
  ]
  return `${redacted(report.join('\n'), secrets)}\n`
}

const ERRORS = 10

/** A value that is one of a few words, or a number, tells nothing about anybody; text could be anything. */
function settingLine({ setting, value, source, untrusted }: SourcedSetting): string {
  const chosen = source !== 'default' && isFreeText(setting)
  const shown = value === undefined ? '-' : chosen ? HIDDEN : shownValue(value)
  const otherwise = untrusted === undefined ? '' : ', different in the workspace'
  return `${generalKey(setting)} = ${shown} (${source})${otherwise}`
}

const HIDDEN = '(set, not shown)'

/** The longest first, since one may hold another. What is too short to be told from other words is left. */
export function redacted(text: string, secrets: readonly Secret[]): string {
  return secrets
    .filter((secret) => secret.text.length >= SHORTEST)
    .toSorted((a, b) => b.text.length - a.text.length)
    .reduce((rest, secret) => rest.replaceAll(secret.text, secret.instead), text)
}

const SHORTEST = 4
