import { judgeEngines } from './judge-engines.ts'
import { HEAD_STORE_CONTRACT } from './head-store.ts'

judgeEngines('heads', HEAD_STORE_CONTRACT)
