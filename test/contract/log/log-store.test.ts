import { judgeEngines } from './judge-engines.ts'
import { LOG_STORE_CONTRACT } from './log-store.ts'

judgeEngines('Logs', LOG_STORE_CONTRACT)
