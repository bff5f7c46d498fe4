// Work that nobody waits for: after the next frame of the screen, or while nothing else is to be done.

/** Milliseconds of idle time that must be left for one more step. */
const STEP = 5;

/** Milliseconds after which others have their turn. */
const SLICE = 20;

/** A function that has another one called once after the next frame, however often it is called before. @param {() => void} act */
export function afterFrame(act) {
  let pending = false;
  return () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => setTimeout(() => {
      pending = false;
      act();
    }));
  };
}

/** Call a function after the next frame, while nothing else is to be done, until it says that all is done; never in a browser that cannot tell. @param {() => boolean} step */
export function whenIdle(step) {
  /** @param {IdleDeadline} deadline */
  const go = (deadline) => {
    do if (step()) return;
    while (deadline.timeRemaining() > STEP);
    requestIdleCallback(go);
  };
  requestAnimationFrame(() => globalThis.requestIdleCallback?.(go));
}

/** Do what takes long only the first time, once for nobody to see. @param {...() => unknown} steps */
export function rehearse(...steps) {
  whenIdle(() => {
    steps.shift()?.();
    return !steps.length;
  });
}

/**
 * Do what there is to do in steps, some of them after the others, so that keys and pointers are answered meanwhile.
 *
 * @template Found
 * @param {import("./layout/steps.js").Steps<Found>} steps
 * @returns {Promise<Found>}
 */
export async function bySteps(steps) {
  for (;;) {
    const start = performance.now();
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() - start < SLICE);
    await othersTurn();
  }
}

/** Let others have their turn. A timer would wait for some milliseconds each time. @returns {Promise<void>} */
function othersTurn() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((done) => {
    port1.onmessage = () => done();
    port2.postMessage(null);
  });
}
