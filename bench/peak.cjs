// Loaded before a program: when it ends, writes the most memory it ever had, in bytes, to the file HAWSER_BENCH_PEAK names.
const { readFileSync, writeFileSync } = require('node:fs')

process.on('exit', () => {
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  writeFileSync(process.env.HAWSER_BENCH_PEAK, String(Number(peak?.[1] ?? 0) * 1024))
})
