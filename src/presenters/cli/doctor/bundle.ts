import type { ErrorKind } from '../../../model/errors.ts'
import { generalKey } from '../../../model/settings.ts'
import type { SourcedSetting } from '../../../session/settings/stored-settings.ts'
import { isFreeText, shownValue } from '../input/setting-values.ts'
import type { Check } from './check.ts'

/** The parts of a report. Everything in it is a number, a fixed word, or passed through `redactSecrets`. */
export interface BundleParts {
  readonly version: string
  readonly checks: readonly Check[]
  readonly settings: readonly SourcedSetting[]
  /** The latest first. */
  readonly errors: readonly ErrorKind[]
  /** Texts that must not be in it, and their replacements. */
  readonly secrets: readonly Secret[]
}

export interface Secret {
  readonly text: string
  readonly instead: string
}

/** A report that is safe to paste: without paths, prompts, content, keys or user-chosen names. */
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
  return `${redactSecrets(report.join('\n'), secrets)}\n`
}

const ERRORS = 10

/** An enumerated value or a number reveals nothing about the user; free text could. */
function settingLine({ setting, value, source, untrusted }: SourcedSetting): string {
  const chosen = source !== 'default' && isFreeText(setting)
  const shown = value === undefined ? '-' : chosen ? HIDDEN : shownValue(value)
  const otherwise = untrusted === undefined ? '' : ', different in the workspace'
  return `${generalKey(setting)} = ${shown} (${source})${otherwise}`
}

const HIDDEN = '(set, not shown)'

/** Replaces the longest first, since one may contain another. Texts too short to be distinctive are kept. */
export function redactSecrets(text: string, secrets: readonly Secret[]): string {
  return secrets
    .filter((secret) => secret.text.length >= SHORTEST)
    .toSorted((a, b) => b.text.length - a.text.length)
    .reduce((rest, secret) => rest.replaceAll(secret.text, secret.instead), text)
}

const SHORTEST = 4
