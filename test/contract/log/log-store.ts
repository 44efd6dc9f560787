import { CRASH_CASES } from './log-crash-cases.ts'
import { FENCE_CASES } from './log-fence-cases.ts'
import { HIDDEN_CASES } from './hidden-log.ts'
import { READING_CASES } from './log-reading-cases.ts'
import { STORAGE_CASES } from './log-storage-cases.ts'
import type { ContractCheck } from './stores-under-test.ts'

/** What every `LogStore` must do, whatever its storage. Each check names a promise of its comments. */
export const LOG_STORE_CONTRACT: readonly ContractCheck[] = [
  ...READING_CASES,
  ...FENCE_CASES,
  ...STORAGE_CASES,
  ...CRASH_CASES,
  ...HIDDEN_CASES,
]
