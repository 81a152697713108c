#ifndef COOPER_MODULE_FIT_STOP_SIGNAL_H_
#define COOPER_MODULE_FIT_STOP_SIGNAL_H_

// Catches Ctrl-C (SIGINT) and SIGTERM, so that a training can save its state and end.

namespace cooper {

// While one lives, the first such signal is only noted; a second one does what it did before. One
// at a time counts: an inner one changes nothing.
class StopSignal {
 public:
  StopSignal();
  // Restores the signals' previous handlers.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // The number of the signal that came; 0 if none did.
  int received() const;

 private:
  bool installed_ = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_STOP_SIGNAL_H_
