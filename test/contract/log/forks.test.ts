import { forksOf } from './fork-stores.ts'
import { judgeEngines } from './judge-engines.ts'
import { LOG_STORE_CONTRACT } from './log-store.ts'
import { ENGINES, type JudgedEngine } from './stores-under-test.ts'

const engines = Object.entries(ENGINES).map(([name, { has, make }]): [string, JudgedEngine] => [
  name,
  {
    // The Logs of a real process are not forks.
    has: has.filter((one) => one !== 'program'),
    make: async (cutAt, seed) => forksOf(await make(cutAt, seed)),
  },
])

judgeEngines(
  'forks',
  LOG_STORE_CONTRACT.filter(({ needs = [] }) => !needs.includes('program')),
  Object.fromEntries(engines),
)
