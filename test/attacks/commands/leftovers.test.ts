import { leftovers } from './leftovers-suite.ts'

leftovers(false)
