import { failed, type Failed } from '../../../model/errors.ts'
import type { FrameFault } from './frame-line.ts'

const FAULT_WORDS: Readonly<Record<FrameFault, string>> = {
  unterminated: 'the last line is incomplete',
  overlong: 'a line exceeds the maximum length',
  version: 'a line was written by a newer version of Hawser',
  checksum: 'the checksum of a line does not match',
  not_json: 'a line is not valid JSON',
  shape: 'a line lacks required fields',
  order: 'a line is missing, duplicated or out of order',
  truncated: 'its end is missing',
  missing: 'the file is missing',
}

/** The error for frames that cannot be read. */
export function framesDamaged(file: string, offset: number, reason: FrameFault): Failed {
  return failed(
    'log_damaged',
    `The frame log is damaged in ${file} at byte ${offset}: ${FAULT_WORDS[reason]}.`,
    { file, offset, reason },
    [
      reason === 'version'
        ? { action: 'Update Hawser, then start its server again.' }
        : { action: 'Restore the file from a backup, or create the Instance again.' },
    ],
  )
}
